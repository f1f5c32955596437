package io.troupe.gym.item;

/**
 * A row of training data: an item and the response that the student imitates.
 *
 * @param id of the row
 * @param item item that the row trains
 * @param response the whole text to imitate, which ends with the item's answer
 */
public record TrainingRow(String id, GymItem item, String response) {}
