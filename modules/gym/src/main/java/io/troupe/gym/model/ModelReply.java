package io.troupe.gym.model;

import io.troupe.gym.loop.Spend;

/** The answer of a language model, and its cost. */
public record ModelReply(String text, Spend spend) {}
