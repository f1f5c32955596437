package io.troupe.gym.skill;

/**
 * One action on a tree and its reward.
 *
 * @param action taken
 * @param rows that it made
 * @param reward the skill's accuracy after the training minus that before
 */
public record SkillStep(SkillAction action, int rows, double reward) {}
