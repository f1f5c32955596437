package io.troupe.runtime;

import io.troupe.core.advantage.OverlongPunishment;
import io.troupe.core.advantage.StepRewards;
import io.troupe.core.loss.KlRewardPenalty;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.EpisodeSequence;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.runtime.prompt.CompletionLimits;
import io.troupe.runtime.prompt.TeacherPrompts;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The reference policy's and the teacher's values that a step asks for before its gradient. */
record ReferenceScoring(TrainingEngine engine, LossSettings loss, TeacherPrompts prompts) {
  private static final Logger LOG = LoggerFactory.getLogger(ReferenceScoring.class);

  /**
   * The rewards of each group's completions, with the KL penalty where it is in the reward, and the
   * punishment of long completions, as parts; absent if a log-probability of the reference policy
   * is not finite.
   */
  Optional<StepRewards> rewards(List<ScoredGroup> groups, CompletionLimits limits) {
    StepRewards rewards = StepRewards.of(groups.stream().map(ScoredGroup::rewardArray).toList());
    OverlongPunishment punishment = loss.overlong().punishment();
    if (punishment.active()) {
      rewards =
          rewards.with(
              punishment.factor(),
              groups.stream()
                  .map(group -> punished(group, punishment, limits.of(group.prompt())))
                  .toList());
    }
    if (!loss.penalisesReward()) {
      return Optional.of(rewards);
    }
    StepRewards unpenalised = rewards;
    return penalties(groups).map(sums -> unpenalised.with(-loss.kl().coefficient(), sums));
  }

  private static double[] punished(ScoredGroup group, OverlongPunishment punishment, int limit) {
    return group.episodes().stream()
        .mapToDouble(
            episode -> punishment.share(episode.turns().getLast().completion().length(), limit))
        .toArray();
  }

  private Optional<List<double[]>> penalties(List<ScoredGroup> groups) {
    List<double[]> penalties = new ArrayList<>();
    List<TrainingSequence> all = groups.stream().flatMap(ReferenceScoring::sequences).toList();
    List<double[]> reference = engine.referenceLogProbs(all, loss.temperature());
    int sequence = 0;
    for (ScoredGroup group : groups) {
      double[] own = new double[group.episodes().size()];
      for (int i = 0; i < own.length; i++) {
        for (int each = group.episodes().get(i).sequences().size(); each > 0; each--) {
          OptionalDouble penalty =
              KlRewardPenalty.of(loss, all.get(sequence), reference.get(sequence));
          if (penalty.isEmpty()) {
            return Optional.empty();
          }
          own[i] += penalty.getAsDouble();
          sequence++;
        }
      }
      penalties.add(own);
    }
    return Optional.of(penalties);
  }

  /**
   * Whether the teacher can read each episode: all of its sequences behind their prompts; an
   * element an episode of all groups, in order.
   */
  List<Boolean> fitsTeacherContext(List<ScoredGroup> groups) {
    List<Boolean> readable = new ArrayList<>();
    for (ScoredGroup group : groups) {
      for (Episode episode : group.episodes()) {
        readable.add(!loss.distils() || episode.sequences().stream().allMatch(this::fits));
      }
    }
    long silent = readable.stream().filter(each -> !each).count();
    if (silent > 0) {
      LOG.warn(
          "{} of {} completions do not fit behind the teacher's prompt into policy.context_length"
              + " ({}) and are not taught",
          silent,
          readable.size(),
          prompts.contextLength());
    }
    return readable;
  }

  private boolean fits(EpisodeSequence sequence) {
    return prompts.before(sequence.prompt()).length + sequence.length() <= prompts.contextLength();
  }

  /** The sequences with the teacher's tokens where it can speak of them. */
  List<TrainingSequence> withTeacherTokens(List<TrainingSequence> sequences) {
    int topK = loss.shares().distillation().topK();
    if (topK == 0) {
      return sequences;
    }
    List<TrainingSequence> asked = new ArrayList<>();
    for (TrainingSequence sequence : sequences) {
      if (sequence.teacherWeight() != 0) {
        asked.add(sequence.after(prompts.before(sequence.prompt())));
      }
    }
    Iterator<TeacherTokens> tokens =
        engine.teacherTokens(asked, topK, loss.temperature()).iterator();
    return sequences.stream()
        .map(each -> each.teacherWeight() == 0 ? each : each.withTeacher(tokens.next()))
        .toList();
  }

  /** The sequences of a group with all sampled tokens, stale ones too: a reward is for them all. */
  private static Stream<TrainingSequence> sequences(ScoredGroup group) {
    return group.sequences().stream().map(ReferenceScoring::whole);
  }

  private static TrainingSequence whole(EpisodeSequence sequence) {
    boolean[] sampled = sequence.sampled();
    float[] ones = new float[sampled.length];
    for (int t = 0; t < ones.length; t++) {
      ones[t] = sampled[t] ? 1 : 0;
    }
    return new TrainingSequence(sequence.prompt(), sequence.tokens(), sequence.logProbs(), ones, 0)
        .observing(sampled);
  }
}
