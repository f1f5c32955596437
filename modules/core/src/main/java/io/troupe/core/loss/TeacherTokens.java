package io.troupe.core.loss;

import static io.troupe.core.Require.require;

/**
 * The tokens that a teacher finds most likely at each position of a completion: K token ids and
 * their log-probabilities under the teacher, most likely first. Arrays are handed over, not copied.
 *
 * @param ids a row of K a completion token; no rows when there is no teacher
 * @param logProbs of the same shape
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record TeacherTokens(int[][] ids, float[][] logProbs) {
  /** A sequence without a teacher. */
  public static final TeacherTokens NONE = new TeacherTokens(new int[0][], new float[0][]);

  public TeacherTokens {
    require(
        ids.length == logProbs.length,
        "%d rows of a teacher's tokens need as many rows of log-probabilities, not %d",
        ids.length,
        logProbs.length);
    for (int t = 0; t < ids.length; t++) {
      require(
          ids[t].length == ids[0].length && logProbs[t].length == ids[0].length,
          "each row of a teacher has %d tokens and log-probabilities, but row %d has %d and %d",
          ids[0].length,
          t,
          ids[t].length,
          logProbs[t].length);
    }
  }

  /** K; 0 when there is no teacher. */
  public int topK() {
    return ids.length == 0 ? 0 : ids[0].length;
  }
}
