package io.troupe.gym.model;

import io.troupe.gym.loop.Spend;

/** What a language model answered, and what that cost. */
public record ModelReply(String text, Spend spend) {}
