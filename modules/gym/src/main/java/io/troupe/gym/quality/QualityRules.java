package io.troupe.gym.quality;

import static io.troupe.core.Require.require;

/**
 * The bounds of a generated row.
 *
 * @param solves tries of the maker at its own problem; 0 asks for none
 * @param agreeing tries that must give the row's own answer, at most {@code solves}
 * @param tries of the student at the row; 0 asks for none
 * @param least share of right tries below which a row counts as never solved only if it is 0
 * @param most share of right tries above which the student knows the row already
 * @param similarity of n-grams from which two texts are one, in (0, 1]
 * @param shortest characters of instruction and of response
 * @param longest characters of instruction and response together
 */
public record QualityRules(
    int solves,
    int agreeing,
    int tries,
    double least,
    double most,
    double similarity,
    int shortest,
    int longest) {
  public QualityRules {
    require(solves >= 0, "quality.solves is 0 or greater, not %d", solves);
    require(
        agreeing >= 0 && agreeing <= solves,
        "quality.agreeing lies in [0, solves (%d)], not %d",
        solves,
        agreeing);
    require(tries >= 0, "quality.tries is 0 or greater, not %d", tries);
    require(
        least >= 0 && least <= most && most <= 1,
        "quality.least (%s) and most (%s) lie in [0, 1] in this order",
        least,
        most);
    require(
        similarity > 0 && similarity <= 1, "quality.similarity lies in (0, 1], not %s", similarity);
    require(
        shortest >= 0 && shortest <= longest,
        "quality.shortest (%d) is at most longest (%d)",
        shortest,
        longest);
  }
}
