package io.troupe.core.loss;

import static io.troupe.core.Require.require;

/**
 * One completion as the trainer sees it. Arrays are handed over, not copied.
 *
 * <p>The loss weights carry everything that depends on the batch as a whole: length masks, stale
 * tokens (zero), and the denominator of the objective. The engine only multiplies and sums, so the
 * result cannot depend on how it splits the batch into micro-batches; it never splits a sequence.
 */
public final class TrainingSequence {
  /** Every token behind the prompt was sampled. */
  private static final boolean[] ALL = {};

  private final int[] prompt;
  private final int[] completion;
  private final float[] behaviourLogProbs;
  private final float[] lossWeights;
  private final double advantage;
  private final int[] staleness;
  private final TeacherTokens teacher;
  private final double teacherWeight;
  private final boolean[] sampled;

  /**
   * A sequence of the batch, sampled by the present weights, without a teacher.
   *
   * @param prompt token ids, at least one
   * @param completion token ids, at least one
   * @param behaviourLogProbs log-probabilities that the sampler recorded, one a completion token
   * @param lossWeights one a completion token, 0 or greater: {@link LossWeights}
   * @param advantage of the completion within its group
   */
  public TrainingSequence(
      int[] prompt,
      int[] completion,
      float[] behaviourLogProbs,
      float[] lossWeights,
      double advantage) {
    this(
        prompt,
        completion,
        behaviourLogProbs,
        lossWeights,
        advantage,
        new int[completion.length],
        TeacherTokens.NONE,
        1,
        ALL);
  }

  private TrainingSequence(
      int[] prompt,
      int[] completion,
      float[] behaviourLogProbs,
      float[] lossWeights,
      double advantage,
      int[] staleness,
      TeacherTokens teacher,
      double teacherWeight,
      boolean[] sampled) {
    require(prompt.length >= 1, "a prompt has at least one token");
    require(completion.length >= 1, "a completion has at least one token");
    require(
        behaviourLogProbs.length == completion.length && lossWeights.length == completion.length,
        "%d completion tokens need as many log-probabilities (%d) and loss weights (%d)",
        completion.length,
        behaviourLogProbs.length,
        lossWeights.length);
    require(Double.isFinite(advantage), "an advantage is a finite number, not %s", advantage);
    require(
        staleness.length == completion.length,
        "%d completion tokens need the staleness of each, not of %d",
        completion.length,
        staleness.length);
    require(
        teacher.topK() == 0 || teacher.ids().length == completion.length,
        "%d completion tokens need as many rows of a teacher, not %d",
        completion.length,
        teacher.ids().length);
    require(
        teacherWeight >= 0 && Double.isFinite(teacherWeight),
        "the weight of a teacher is a finite number, 0 or greater, not %s",
        teacherWeight);
    require(
        sampled.length == 0 || sampled.length == completion.length,
        "%d completion tokens need a flag each whether they were sampled, not %d",
        completion.length,
        sampled.length);
    for (int t = 0; t < sampled.length; t++) {
      require(
          sampled[t] || lossWeights[t] == 0,
          "token %d was not sampled and has loss weight %s",
          t,
          lossWeights[t]);
    }
    this.prompt = prompt;
    this.completion = completion;
    this.behaviourLogProbs = behaviourLogProbs;
    this.lossWeights = lossWeights;
    this.advantage = advantage;
    this.staleness = staleness;
    this.teacher = teacher;
    this.teacherWeight = teacherWeight;
    this.sampled = sampled;
  }

  private TrainingSequence with(
      int[] prompt,
      int[] staleness,
      TeacherTokens teacher,
      double teacherWeight,
      boolean[] sampled) {
    return new TrainingSequence(
        prompt,
        completion,
        behaviourLogProbs,
        lossWeights,
        advantage,
        staleness,
        teacher,
        teacherWeight,
        sampled);
  }

  /** Returns this sequence with the staleness of each completion token, in versions. */
  public TrainingSequence sampledBehind(int[] versions) {
    return with(prompt, versions, teacher, teacherWeight, sampled);
  }

  /** Returns this completion behind another prompt. */
  public TrainingSequence after(int[] other) {
    return with(other, staleness, teacher, teacherWeight, sampled);
  }

  /** Returns this sequence with a teacher's tokens. */
  public TrainingSequence withTeacher(TeacherTokens tokens) {
    return with(prompt, staleness, tokens, teacherWeight, sampled);
  }

  /** Returns this sequence with another weight of the teacher: {@link #teacherWeight}. */
  public TrainingSequence withTeacherWeight(double weight) {
    return with(prompt, staleness, teacher, weight, sampled);
  }

  /**
   * Returns this sequence as an episode, whose tokens behind the prompt are not all sampled.
   *
   * @param flags one a token behind the prompt; the others are observed and have no loss weight
   */
  public TrainingSequence observing(boolean[] flags) {
    return with(prompt, staleness, teacher, teacherWeight, flags);
  }

  /** Returns the token ids of the prompt. */
  public int[] prompt() {
    return prompt;
  }

  /** Returns the token ids behind the prompt. */
  public int[] completion() {
    return completion;
  }

  /** Returns the log-probability of each completion token under its sampler. */
  public float[] behaviourLogProbs() {
    return behaviourLogProbs;
  }

  /** Returns the loss weight of each completion token. */
  public float[] lossWeights() {
    return lossWeights;
  }

  /** Returns the advantage of the completion. */
  public double advantage() {
    return advantage;
  }

  /** Whether a token behind the prompt was sampled; what tools and templates add was not. */
  public boolean isSampled(int token) {
    return sampled.length == 0 || sampled[token];
  }

  /**
   * Returns the number of versions by which each completion token's sampler was behind the trainer.
   */
  public int[] staleness() {
    return staleness;
  }

  /**
   * Returns the teacher's distribution at each completion token; {@link TeacherTokens#NONE} without
   * a teacher.
   */
  public TeacherTokens teacher() {
    return teacher;
  }

  /**
   * Returns the factor of the loss weights in the distillation term: 0 where no teacher can judge
   * the completion, which then needs no rows of a teacher; else 1 or greater, so that the term's
   * mean is over the taught tokens of the step.
   */
  public double teacherWeight() {
    return teacherWeight;
  }

  /** Prompt and completion together, in tokens. */
  public int length() {
    return prompt.length + completion.length;
  }
}
