package io.troupe.gym.config;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;
import io.troupe.gym.agent.PromptFiles;
import java.nio.file.Path;
import java.util.Optional;

/** The division of rows by the skill-tree agent. */
public record GymAgentSection(
    @Doc(
            "Share of the rows that `weakness` divides evenly, so that what is strong is not"
                + " forgotten.")
        @Default("0.2")
        @Range(min = 0, max = 1)
        double floor,
    @Doc(
            value =
                "Iterations in a row without gain after which a subskill gets no more rows; 0 never"
                    + " prunes.",
            unit = "iterations")
        @Default("0")
        @Range(min = 0)
        int patience,
    @Doc(value = "Subskills that an exploration adds to each tree.", unit = "subskills")
        @Default("2")
        @Range(min = 1, max = 100)
        int newSubskills,
    @Doc(value = "Rows of each new subskill.", unit = "rows")
        @Default("10")
        @Range(min = 1, max = 10_000)
        int newRows,
    @Doc(value = "Most rows of a skill in all, of `alternating`.", unit = "rows")
        @Default("200")
        @Range(min = 1)
        int mostRows,
    @Doc(value = "Subskills of a skill, of `fill_balanced`.", unit = "subskills")
        @Default("5")
        @Range(min = 1, max = 100)
        int subskills,
    @Doc(value = "Rows of each subskill in all, of `fill_balanced`.", unit = "rows")
        @Default("50")
        @Range(min = 1)
        int fill,
    @Doc(value = "Most rows of a subskill and iteration, of `coin` and `fill_balanced`.")
        @Default("20")
        @Range(min = 1)
        int most,
    @Doc(
            "Folder of prompts for the language model in place of Troupe's own, by their names"
                + " (`rows.txt`, `hypothesis.txt`, `subskills.txt`, `solve.txt`, `label.txt`,"
                + " `categories.txt`, `assign.txt`); one that it lacks is Troupe's.")
        @Default("")
        @RelativeToFile
        String prompts) {
  /** Returns the prompts. */
  public PromptFiles promptFiles() {
    return new PromptFiles(prompts.isEmpty() ? Optional.empty() : Optional.of(Path.of(prompts)));
  }
}
