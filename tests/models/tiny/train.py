#!/usr/bin/env python3
"""Trains tiny.gguf: a language model of the architecture "llama" on kbench's own candidates, small
enough to be a test's data. README.md says how it was run. Needs torch and numpy (python3-torch)."""

import argparse
import math
import os
import random
import time
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn

import corpus
import gguf
from tokenizer import END, MODEL, UNKNOWN, USER, Tokenizer

CONTEXT, WIDTH, LAYERS, HEADS, HIDDEN, TOKENS = 1024, 128, 3, 4, 320, 1024
HEAD = WIDTH // HEADS
EPSILON, FREQUENCY = 1e-5, 10000.0
TEMPLATE = ("{% for m in messages %}{% if m.role == 'assistant' %}<|assistant|>{{ m.content }}</s>"
            "{% else %}<|user|>{{ m.content }}{% endif %}{% endfor %}"
            "{% if add_generation_prompt %}<|assistant|>{% endif %}")


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * self.weight


def rotated(x, cos, sin):
    """Positions, as angles by which neighbouring numbers turn (GGUF's order for "llama")."""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn_norm, self.ffn_norm = Norm(), Norm()
        self.attn_q, self.attn_k, self.attn_v, self.attn_output = (
            nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.ffn_gate, self.ffn_up = (nn.Linear(WIDTH, HIDDEN, bias=False) for _ in range(2))
        self.ffn_down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x, cos, sin, mask):
        batch, length, _ = x.shape
        n = self.attn_norm(x)
        q, k, v = (f(n).view(batch, length, HEADS, HEAD).transpose(1, 2)
                   for f in (self.attn_q, self.attn_k, self.attn_v))
        scores = rotated(q, cos, sin) @ rotated(k, cos, sin).transpose(-1, -2) / math.sqrt(HEAD)
        mixed = (scores + mask).softmax(-1) @ v
        x = x + self.attn_output(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        n = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(n)) * self.ffn_up(n))


class Model(nn.Module):
    def __init__(self, tokens):
        super().__init__()
        self.token_embd = nn.Embedding(tokens, WIDTH)
        self.blk = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.output_norm = Norm()
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                nn.init.normal_(parameter, std=0.02 if "output" not in name and "down" not in name
                                else 0.02 / math.sqrt(2 * LAYERS))

    def forward(self, tokens):
        length = tokens.shape[1]
        angles = torch.outer(torch.arange(length),
                             FREQUENCY ** (-torch.arange(0, HEAD, 2) / HEAD))
        mask = torch.full((length, length), -math.inf).triu(1)
        x = self.token_embd(tokens)
        for layer in self.blk:
            x = layer(x, angles.cos(), angles.sin(), mask)
        return self.output_norm(x)

    def loss(self, tokens, wanted):
        """Of the tokens that are the model's to say; the others are -1."""
        said = wanted >= 0
        return F.cross_entropy(self(tokens)[said] @ self.token_embd.weight.T, wanted[said])


def example(tokenizer, random_):
    """A conversation's tokens, and which of them are learnt."""
    turns = corpus.conversation(random_)
    tokens, learnt = [], []
    for k, turn in enumerate(turns):
        part = [MODEL if k % 2 else USER] + tokenizer.encode(turn) + ([END] if k % 2 else [])
        tokens += part
        learnt += [False] + [k + 1 == len(turns)] * (len(part) - 1)
    return tokens[:CONTEXT], learnt[:CONTEXT]


def batches(tokenizer, random_, size):
    """Batches without end, each of examples of about the same length."""
    while True:
        examples = sorted((example(tokenizer, random_) for _ in range(16 * size)),
                          key=lambda tokens_learnt: len(tokens_learnt[0]))
        cuts = list(range(0, len(examples), size))
        random_.shuffle(cuts)
        for cut in cuts:
            yield padded(examples[cut:cut + size])


def padded(examples):
    length = max(len(tokens) for tokens, _ in examples)
    tokens = torch.full((len(examples), length), END)
    wanted = torch.full((len(examples), length), -1)
    for row, (these, learnt) in enumerate(examples):
        tokens[row, :len(these)] = torch.tensor(these)
        wanted[row, :len(these) - 1] = torch.tensor(
            [token if learn else -1 for token, learn in zip(these[1:], learnt[1:])])
    return tokens, wanted


def save(path, model, tokenizer):
    values = {
        "general.architecture": "llama",
        "general.name": "kbench tiny",
        "general.license": "mit",
        "general.file_type": 7,  # mostly q8_0
        "general.quantization_version": 2,
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.block_count": LAYERS,
        "llama.feed_forward_length": HIDDEN,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": HEADS,
        "llama.attention.layer_norm_rms_epsilon": EPSILON,
        "llama.rope.dimension_count": HEAD,
        "llama.rope.freq_base": FREQUENCY,
        "llama.vocab_size": len(tokenizer.texts),
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokenizer.texts,
        "tokenizer.ggml.scores": tokenizer.scores(),
        "tokenizer.ggml.token_type": tokenizer.types(),
        "tokenizer.ggml.bos_token_id": END,
        "tokenizer.ggml.eos_token_id": END,
        "tokenizer.ggml.unknown_token_id": UNKNOWN,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.add_eos_token": False,
        "tokenizer.ggml.add_space_prefix": False,
        "tokenizer.chat_template": TEMPLATE,
    }
    tensors = {name if name.endswith("weight") else name + ".weight": parameter.detach().numpy()
               for name, parameter in model.named_parameters()}
    gguf.write(path + ".new", values, tensors)
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", help="the GGUF file, written every 100 steps and at the end")
    parser.add_argument("--steps", type=int, default=600, help="what the learning rate falls over")
    parser.add_argument("--until", type=int, default=300, help="the step to stop after")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--rate", type=float, default=3e-3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    random_ = random.Random(1)

    lines = Counter()
    for text in corpus.everything():
        lines.update(text.splitlines(True))
    tokenizer = Tokenizer(lines, TOKENS)
    model = Model(len(tokenizer.texts))
    print("%d parameters, %d tokens; an answer has %s" % (
        sum(p.numel() for p in model.parameters()), len(tokenizer.texts),
        {task: len(tokenizer.encode(corpus.answer(task, random_))) for task in corpus.TASKS}))
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.01)
    supply = batches(tokenizer, random_, arguments.batch)
    began = time.monotonic()
    for step in range(1, arguments.steps + 1):
        warm = min(1, step / 50)
        rate = arguments.rate * warm * (0.05 + 0.95 * (
            1 + math.cos(math.pi * step / arguments.steps)) / 2)
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = model.loss(*next(supply))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        if step % 10 == 0:
            print("step %d  loss %.4f  %.0f s" % (step, loss.item(), time.monotonic() - began),
                  flush=True)
        if step % 100 == 0 or step in (arguments.steps, arguments.until):
            save(arguments.output, model, tokenizer)
        if step == arguments.until:
            break


if __name__ == "__main__":
    main()
