package io.troupe.gym.config;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import java.util.List;

/**
 * The bars that a base student must pass, so that a comparison of arms measures the choice of data.
 */
public record GateSection(
    @Doc(
            "Leaves that the base student is not trained on, named before the trials; none turns"
                + " the gate off.")
        List<String> weak,
    @Doc("Highest validation accuracy of the base student on a weak leaf.")
        @Default("0.05")
        @Range(min = 0, max = 1)
        double weakMost,
    @Doc("Lowest validation accuracy of the base student on any other leaf.")
        @Default("0.95")
        @Range(min = 0, max = 1)
        double othersLeast) {}
