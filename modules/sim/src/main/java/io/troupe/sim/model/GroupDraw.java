package io.troupe.sim.model;

import java.util.List;

/**
 * The completions of a group before anything decodes them.
 *
 * @param lengths tokens of each completion, 1 or more
 * @param rewards of each completion
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record GroupDraw(int[] lengths, List<Double> rewards) {}
