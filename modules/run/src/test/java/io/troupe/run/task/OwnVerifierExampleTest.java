package io.troupe.run.task;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.config.RunConfig;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.rollout.VerifierSection;
import io.troupe.config.rollout.VerifierSection.Over;
import io.troupe.config.rollout.VerifierSection.Reward;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.Verdict;
import io.troupe.run.compose.Composition;
import io.troupe.tasks.RowKeeping;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A program of one's own that rewards by a column beside the answer. */
final class OwnVerifierExampleTest {
  private static final Path CONF = Path.of("../../conf").toAbsolutePath();

  private static RunConfig example() throws IOException {
    Path file = CONF.resolve("own-verifier.yaml");
    String text =
        Files.readString(file).replace("conf/verifiers", String.valueOf(CONF.resolve("verifiers")));
    return ConfigurationFile.bind(RunConfig.class, file, text, List.of()).config();
  }

  @Test
  void ownVerifier_rightAnswer_earnsTheLevelOfItsRow() throws Exception {
    Composition run = Composition.of(example());
    try (VerifierPools pools = run.openVerifiers(true)) {
      for (Prompt prompt :
          Stream.concat(run.task().train().stream(), run.task().heldOut().stream()).toList()) {
        double level = Integer.parseInt(prompt.answer()) < 10 ? 1 : 2;

        assertThat(pools.rewards().verify(prompt, prompt.answer()).toCompletableFuture().join())
            .isEqualTo(new Verdict.Scored(level, "", ""));
        assertThat(pools.rewards().verify(prompt, "x").toCompletableFuture().join())
            .isEqualTo(new Verdict.Scored(0, "", ""));
      }
    }
  }

  @Test
  void keeping_verifiersOfARun_keepRowsForThoseThatReadThem() {
    RowKeeping keeping =
        VerifierPools.keeping(
            section(
                new Reward("mixed", "math", 0.5, List.of(), Over.ANSWER),
                new Reward("mixed", "command", 0.5, List.of("run=x"), Over.ANSWER),
                new Reward("turns", "turns", 1, List.of(), Over.ANSWER)));

    assertThat(keeping.keeps("mixed", "math")).isTrue();
    assertThat(keeping.keeps("turns", "command")).isFalse();
    assertThat(keeping.keeps("own", "math")).isFalse();
    assertThat(keeping.keeps("own", "judge")).isTrue();
  }

  private static VerifierSection section(Reward... rewards) {
    return new VerifierSection(
        1,
        Duration.ofSeconds(60),
        64,
        20,
        Duration.ofMinutes(1),
        false,
        List.of(),
        1,
        List.of(rewards));
  }
}
