package io.troupe.runtime;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.train.LossSettings;
import io.troupe.core.train.RewardPenalty;
import io.troupe.core.train.TeacherTokens;
import io.troupe.core.train.TrainingSequence;
import io.troupe.engine.TrainingEngine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a step asks reference policy and teacher before its gradient. */
record Consultation(TrainingEngine engine, LossSettings loss, TeacherPrompts prompts) {
  private static final Logger LOG = LoggerFactory.getLogger(Consultation.class);

  /** The rewards of each group's completions, less the KL penalty where it is in the reward. */
  List<double[]> rewards(List<ScoredGroup> groups) {
    List<double[]> rewards = new ArrayList<>();
    for (ScoredGroup group : groups) {
      rewards.add(group.rewards().stream().mapToDouble(Double::doubleValue).toArray());
    }
    if (!loss.penalisesReward()) {
      return rewards;
    }
    List<TrainingSequence> all = groups.stream().flatMap(Consultation::sequences).toList();
    List<double[]> reference = engine.referenceLogProbs(all, loss.temperature());
    int sequence = 0;
    for (double[] group : rewards) {
      for (int i = 0; i < group.length; i++) {
        float[] behaviour = all.get(sequence).behaviourLogProbs();
        group[i] -= RewardPenalty.of(loss, behaviour, reference.get(sequence));
        sequence++;
      }
    }
    return rewards;
  }

  /** The sequences with the teacher's tokens where the loss has a distillation. */
  List<TrainingSequence> taught(List<TrainingSequence> sequences) {
    int topK = loss.distillation().topK();
    if (topK == 0) {
      return sequences;
    }
    List<TrainingSequence> fitting = new ArrayList<>();
    List<Integer> places = new ArrayList<>();
    List<TrainingSequence> taught = new ArrayList<>();
    for (int i = 0; i < sequences.size(); i++) {
      TrainingSequence seen = prompts.before(sequences.get(i));
      if (seen.length() <= prompts.contextLength()) {
        fitting.add(seen);
        places.add(i);
      }
      taught.add(sequences.get(i).taughtBy(TeacherTokens.silent(seen.completion().length, topK)));
    }
    if (fitting.size() < sequences.size()) {
      LOG.warn(
          "{} of {} completions do not fit behind the teacher's prompt into policy.context_length"
              + " ({}) and teach nothing",
          sequences.size() - fitting.size(),
          sequences.size(),
          prompts.contextLength());
    }
    List<TeacherTokens> tokens = engine.teacherTokens(fitting, topK, loss.temperature());
    for (int i = 0; i < tokens.size(); i++) {
      int place = places.get(i);
      taught.set(place, sequences.get(place).taughtBy(tokens.get(i)));
    }
    return taught;
  }

  /**
   * The completions of a group with all of their tokens, stale ones too: a reward is for them all.
   */
  private static Stream<TrainingSequence> sequences(ScoredGroup group) {
    return group.completions().stream().map(completion -> whole(group.prompt(), completion));
  }

  private static TrainingSequence whole(int[] prompt, Completion completion) {
    float[] ones = new float[completion.length()];
    Arrays.fill(ones, 1);
    return new TrainingSequence(prompt, completion.tokens(), completion.logProbs(), ones, 0);
  }
}
