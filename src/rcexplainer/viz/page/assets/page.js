// Everything starts here.

startTable();
startInstance();
startReasons();
startHistograms();
startKeyboard();
arrange();
const asked = Number(location.hash.slice(1));
select(Number.isInteger(asked) && asked >= 0 && asked < page.instances.length ? asked : 0);
