"""Byte pairs, learnt line by line, and applied as GGUF's tokenizer "llama" does: of the neighbours
that together are a token, those with the best score become one, until there are none."""

from collections import Counter

SPACE = "\u2581"  # what stands for a space in that tokenizer's vocabulary
UNKNOWN, END, USER, MODEL = range(4)
SPECIAL = ["<unk>", "</s>", "<|user|>", "<|assistant|>"]
LONGEST = 64  # characters of a token, at most


class Tokenizer:
    def __init__(self, lines, size):
        """Learns from lines (text: how often), until there are `size` tokens."""
        self.texts = SPECIAL + ["<0x%02X>" % byte for byte in range(256)] + [SPACE]
        self.merged = {}  # text: token, of all that are merged from others
        words = {line.replace(" ", SPACE): (list(line.replace(" ", SPACE)), count)
                 for line, count in lines.items()}
        while len(self.texts) < size:
            pairs = Counter()
            for symbols, count in words.values():
                for a, b in zip(symbols, symbols[1:]):
                    if len(a) + len(b) <= LONGEST:
                        pairs[a + b] += count
            if not pairs:
                break
            best = max(pairs, key=lambda text: (pairs[text], text))
            self.merged[best] = len(self.texts)
            self.texts.append(best)
            for symbols, _ in words.values():
                self._join(symbols, best)
        self._cache = {}

    @staticmethod
    def _join(symbols, text):
        k = 0
        while k + 1 < len(symbols):
            if symbols[k] + symbols[k + 1] == text:
                symbols[k:k + 2] = [text]
            k += 1

    def _encode_line(self, line):
        symbols = list(line.replace(" ", SPACE))
        while True:
            ids = [self.merged.get(a + b, 1 << 30) for a, b in zip(symbols, symbols[1:])]
            if not ids or min(ids) == 1 << 30:
                break
            k = ids.index(min(ids))
            symbols[k:k + 2] = [symbols[k] + symbols[k + 1]]
        tokens = []
        for symbol in symbols:
            if symbol == SPACE:
                tokens.append(len(SPECIAL) + 256)
            elif symbol in self.merged:
                tokens.append(self.merged[symbol])
            else:
                tokens += [len(SPECIAL) + byte for byte in symbol.encode("utf-8")]
        return tokens

    def encode(self, text):
        """No token goes beyond the end of a line, so lines are encoded one by one."""
        tokens = []
        for line in text.splitlines(True):
            if line not in self._cache:
                self._cache[line] = self._encode_line(line)
            tokens += self._cache[line]
        return tokens

    def scores(self):
        """Better for what was learnt earlier."""
        plain = len(self.texts) - len(self.merged)
        return [0.0] * plain + [-1.0 - k for k in range(len(self.merged))]

    def types(self):
        """GGUF's: 2 unknown, 3 control, 6 byte, 1 any other."""
        return [2, 3, 3, 3] + [6] * 256 + [1] * (len(self.texts) - 260)
