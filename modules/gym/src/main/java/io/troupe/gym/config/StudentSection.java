package io.troupe.gym.config;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.gym.student.StudentFit;

/** How a student is trained: from its base on all rows so far, by AdamW. */
public record StudentSection(
    @Doc(value = "Steps of a base student.", unit = "steps")
        @Default("800")
        @Range(min = 1, max = 10_000_000)
        int baseSteps,
    @Doc("Learning rate of a base student's first step; it falls to a tenth.")
        @Default("3e-3")
        @Range(min = 0, minExclusive = true, max = 1)
        double baseRate,
    @Doc(value = "Passes over the rows of a training.", unit = "epochs")
        @Default("20")
        @Range(min = 1, max = 10_000)
        int epochs,
    @Doc("Learning rate of a training's first step; it falls to a tenth.")
        @Default("5e-4")
        @Range(min = 0, minExclusive = true, max = 1)
        double rate,
    @Doc("Rows of the base student that are mixed in for each new row, against forgetting.")
        @Default("2")
        @Range(min = 0, max = 1000)
        double replay,
    @Doc(value = "Rows of a step.", unit = "rows") @Default("128") @Range(min = 1, max = 1_000_000)
        int batch,
    @Doc(value = "Most tokens of a response.", unit = "tokens") @Default("6") @Range(min = 1)
        int maxTokens) {
  /** Returns the settings of trainings. */
  public StudentFit settings() {
    return new StudentFit(baseSteps, baseRate, epochs, rate, replay, batch, maxTokens);
  }
}
