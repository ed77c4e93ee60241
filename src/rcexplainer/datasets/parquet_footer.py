"""Integers in the footer of a Parquet file, read without pyarrow.

pyarrow has them too (`metadata.row_group(i).column(j)`), but where a footer is damaged its exception passes through
code that cannot raise, and ends the whole process. A footer is a struct in Thrift's compact protocol: fields with a
number and a type each, so that those of no interest can be passed over.
"""

from collections.abc import Iterator

NUMBERS = (4, 1, 3, 5)  # row_groups → columns → meta_data → num_values
_DEEPEST = 64  # structs and lists within each other, as in Thrift itself
_BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = range(3, 14)
_SIZES = {_BYTE: 1, _DOUBLE: 8, _UUID: 16}


def footer_integers(footer: bytes, path: tuple[int, ...]) -> list[int]:
    """The integers at one place of the footer, in the order of the file.

    Args:
        footer: The bytes of the footer.
        path: Numbers of the fields that lead there, through structs and lists of structs.

    Returns:
        The integers; none if there is no such field.

    Raises:
        ValueError: The bytes are no footer.
    """
    try:
        return list(_Compact(footer).integers(path))
    except IndexError:
        raise ValueError("its footer ends too early") from None


class _Compact:
    """Bytes in Thrift's compact protocol, read from the start to the end."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.place = 0

    def integers(self, path: tuple[int, ...]) -> Iterator[int]:
        """The integers at a place of the struct that begins here."""
        for number, kind in self.fields():
            if number != path[0]:
                self.skip(kind)
            elif len(path) == 1 and kind in (_I16, _I32, _I64):
                yield self.integer()
            elif len(path) > 1 and kind == _STRUCT:
                yield from self.integers(path[1:])
            elif len(path) > 1 and kind == _LIST:
                size, inner = self.items()
                if inner != _STRUCT:
                    raise ValueError(f"field {number} of its footer is a list of type {inner}")
                for _ in range(size):
                    yield from self.integers(path[1:])
            else:
                raise ValueError(f"field {number} of its footer has the type {kind}")

    def fields(self) -> Iterator[tuple[int, int]]:
        """Number and type of each field; its value is to be read before the next one is asked for."""
        number = 0
        while header := self.byte():
            number = number + (header >> 4) if header >> 4 else self.integer()
            yield number, header & 15

    def items(self) -> tuple[int, int]:
        """Size of the list that begins here, and the type of what it holds."""
        header = self.byte()
        return (self.varint() if header >> 4 == 15 else header >> 4), header & 15

    def skip(self, kind: int, inside: bool = False, depth: int = 0) -> None:
        """Pass over a value; truths take a byte inside lists and maps, and none as fields."""
        if depth > _DEEPEST:
            raise ValueError("its footer is nested too deeply")
        if kind in (1, 2):
            self.take(int(inside))
        elif kind in _SIZES:
            self.take(_SIZES[kind])
        elif kind in (_I16, _I32, _I64):
            self.varint()
        elif kind == _BINARY:
            self.take(self.varint())
        elif kind in (_LIST, _SET):
            size, inner = self.items()
            for _ in range(size):
                self.skip(inner, True, depth + 1)
        elif kind == _MAP:
            if size := self.varint():
                kinds = self.byte()
                for _ in range(size):
                    self.skip(kinds >> 4, True, depth + 1)
                    self.skip(kinds & 15, True, depth + 1)
        elif kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner, False, depth + 1)
        else:
            raise ValueError(f"its footer has a value of type {kind}")

    def integer(self) -> int:
        """A signed integer: 0, −1, 1, −2, … stand as 0, 1, 2, 3, …"""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def varint(self) -> int:
        """An unsigned integer: seven bits a byte, the lowest first; the last byte is below 128."""
        value = 0
        for place in range(10):
            byte = self.byte()
            value |= (byte & 127) << 7 * place
            if byte < 128:
                return value
        raise ValueError("its footer has an integer of more than ten bytes")

    def byte(self) -> int:
        """The next byte."""
        self.take(1)
        return self.content[self.place - 1]

    def take(self, size: int) -> None:
        """Go on by so many bytes."""
        self.place += size
        if self.place > len(self.content):
            raise IndexError
