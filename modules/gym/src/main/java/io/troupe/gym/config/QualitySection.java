package io.troupe.gym.config;

import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.gym.quality.QualityRules;

/** The checks that a generated row must pass. */
public record QualitySection(
    @Doc(value = "Tries of the maker at its own problem, without the answer.", unit = "tries")
        @Default("0")
        @Range(min = 0, max = 100)
        int solves,
    @Doc(value = "Tries among them that must give the row's answer.", unit = "tries")
        @Default("0")
        @Range(min = 0, max = 100)
        int agreeing,
    @Doc(value = "Tries of the student at the row; 0 asks for none.", unit = "tries")
        @Default("0")
        @Range(min = 0, max = 1000)
        int tries,
    @Doc("Least share of right tries; a row that the student never solves is kept anyway.")
        @Default("0.25")
        @Range(min = 0, max = 1)
        double least,
    @Doc("Highest share of right tries.") @Default("0.75") @Range(min = 0, max = 1) double most,
    @Doc("Similarity of word 8-grams (Jaccard) from which two texts are one; 1 means equal.")
        @Default("1")
        @Range(min = 0, minExclusive = true, max = 1)
        double similarity,
    @Doc(value = "Least characters of instruction and of response.", unit = "characters")
        @Default("1")
        @Range(min = 0)
        int shortest,
    @Doc(value = "Most characters of both together.", unit = "characters")
        @Default("8000")
        @Range(min = 1)
        int longest) {
  /** Returns the rules. */
  public QualityRules rules() {
    return new QualityRules(solves, agreeing, tries, least, most, similarity, shortest, longest);
  }
}
