package io.troupe.run.replay;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.CompletionDigest;
import io.troupe.core.replay.RecordedGroup;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.engine.Tokenizer;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.store.folder.RunFolder;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** The stored tokens of a step's groups beside what the journal has of these groups. */
record StoredTokens(RunFolder folder, long step, Tokenizer tokenizer, PromptPool pool) {
  /** Whether the groups are those of the batch, in its order. */
  Optional<ReplayDifference> compareBatch(List<LeaseId> batch, List<ScoredGroup> groups) {
    for (int i = 0; i < Math.max(batch.size(), groups.size()); i++) {
      if (i >= groups.size() || i >= batch.size() || !groups.get(i).lease().equals(batch.get(i))) {
        return Optional.of(
            new ReplayDifference(
                OptionalLong.of(step),
                i < batch.size()
                    ? OptionalLong.of(batch.get(i).group().number())
                    : OptionalLong.empty(),
                OptionalInt.empty(),
                OptionalInt.empty(),
                "at place %d of its batch is %s, and of the stored tokens %s"
                    .formatted(
                        i,
                        i < batch.size() ? batch.get(i) : "no group",
                        i < groups.size() ? groups.get(i).lease() : "no group")));
      }
    }
    return Optional.empty();
  }

  /** Compares a group: prompt, tokens, log-probabilities, versions and rewards. */
  Optional<ReplayDifference> compare(RecordedGroup recorded, ScoredGroup stored) {
    GroupSummary summary = recorded.summary();
    int[] prompt =
        pool.assignment(summary.lease(), recorded.prompt(), recorded.epoch(), recorded.draws())
            .tokens();
    if (!Arrays.equals(prompt, stored.prompt())) {
      return difference(
          summary,
          OptionalInt.empty(),
          OptionalInt.empty(),
          "its prompt is stored as other tokens");
    }
    List<Completion> completions = stored.completions();
    List<String> digests = recorded.digests();
    if (completions.size() != digests.size()) {
      return difference(
          summary,
          OptionalInt.empty(),
          OptionalInt.empty(),
          "%d completions are stored, and %d were recorded"
              .formatted(completions.size(), digests.size()));
    }
    for (int i = 0; i < completions.size(); i++) {
      String bits = CompletionDigest.withoutPreemptions(digests.get(i));
      if (!CompletionDigest.of(completions.get(i)).equals(bits)) {
        return otherTokens(summary, i, completions, stored.episodes().size());
      }
    }
    return compareNumbers(summary, stored.summary());
  }

  private Optional<ReplayDifference> otherTokens(
      GroupSummary summary, int completion, List<Completion> completions, int episodes) {
    // The traces have the text of an episode's last turn only.
    RecordedTexts.Compared text =
        completions.size() == episodes
            ? RecordedTexts.of(folder, tokenizer)
                .compare(summary.lease(), completion, completions.get(completion).tokens())
            : new RecordedTexts.Compared(OptionalInt.empty(), "");
    return difference(
        summary,
        OptionalInt.of(completion),
        text.token(),
        "other tokens or log-probabilities are stored than were sampled" + text.sentence());
  }

  private Optional<ReplayDifference> compareNumbers(GroupSummary recorded, GroupSummary stored) {
    for (int i = 0; i < recorded.rewards().size(); i++) {
      if (!recorded.versions().get(i).equals(stored.versions().get(i))) {
        return difference(
            recorded,
            OptionalInt.of(i),
            OptionalInt.empty(),
            "its tokens are stored with the versions %s, and %s were recorded"
                .formatted(stored.versions().get(i), recorded.versions().get(i)));
      }
      if (!recorded.rewards().get(i).equals(stored.rewards().get(i))) {
        return difference(
            recorded,
            OptionalInt.of(i),
            OptionalInt.empty(),
            "its reward is stored as %s, and %s was recorded"
                .formatted(stored.rewards().get(i), recorded.rewards().get(i)));
      }
    }
    return Optional.empty();
  }

  private Optional<ReplayDifference> difference(
      GroupSummary summary, OptionalInt completion, OptionalInt token, String sentence) {
    return Optional.of(
        new ReplayDifference(
            OptionalLong.of(step),
            OptionalLong.of(summary.lease().group().number()),
            completion,
            token,
            sentence));
  }
}
