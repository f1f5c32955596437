package io.troupe.gym.item;

/** An item, what the student answered to it, and whether that is right. */
public record AnsweredItem(GymItem item, String response, boolean correct) {}
