// Everything starts here.

startTable();
startInstance();
startReasons();
startHistograms();
startKeyboard();
arrange();
select(addressed() ?? 0);
// A link to another instance of the open page, or an address typed into it.
addEventListener("hashchange", () => {
  if (addressed() !== null) select(addressed());
});
