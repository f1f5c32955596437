package io.troupe.verifiers.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.PassMark;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.Verifier;
import io.troupe.verifiers.pool.PoolSettings;
import io.troupe.verifiers.pool.VerifierService;
import io.troupe.verifiers.pool.VerifierServices;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WeightedServiceTest {
  private static WeightedService.Part part(String name, double weight, Verifier verifier) {
    return new WeightedService.Part(
        name, weight, VerifierServices.ofVerifier(name, verifier, PoolSettings.of(1)));
  }

  private static Verdict verify(VerifierService service, String source) {
    return service
        .verify(new Prompt(new PromptId("p"), source, "t", "a", ""), "c")
        .toCompletableFuture()
        .join();
  }

  private static Verifier scoring(double reward, String reason) {
    return (_, _) -> new Verdict.Scored(reward, reason, reason);
  }

  @Test
  void verify_parts_addsTheWeightedRewards() {
    try (WeightedService service =
        new WeightedService(
            List.of(
                part("right", 0.75, scoring(1, "equal")),
                part("neat", 0.25, scoring(0.5, "half"))))) {
      assertThat(verify(service, "s"))
          .isEqualTo(
              new Verdict.Scored(
                  0.875,
                  "equal",
                  "right 0.750 × 1.00 (equal); neat 0.250 × 0.500 (half)",
                  List.of(new Check("right", true), new Check("neat", false))));
    }
  }

  @Test
  void verify_allParts_isExactlyOne() {
    try (WeightedService service =
        new WeightedService(
            List.of(
                part("a", 0.7, scoring(1, "")),
                part("b", 0.2, scoring(1, "")),
                part("c", 0.1, scoring(1, ""))))) {
      assertThat(((Verdict.Scored) verify(service, "s")).passed()).isTrue();
    }
  }

  @Test
  void verify_onePartThatCannotTell_isNoReward() {
    Verdict none = new Verdict.Unverifiable(Verdict.Cause.TIMEOUT, "late");
    try (WeightedService service =
        new WeightedService(
            List.of(part("a", 0.5, scoring(1, "")), part("b", 0.5, (_, _) -> none)))) {
      assertThat(verify(service, "s"))
          .isEqualTo(new Verdict.Unverifiable(Verdict.Cause.AWAY, "b: late"));
    }
  }

  @Test
  void weights_thatDoNotAddUp_areRefused() {
    assertThatThrownBy(() -> new WeightedService(List.of(part("a", 0.5, scoring(1, "")))))
        .hasMessageContaining("add up to 1, not to 0.5");
  }

  @Test
  void routed_sources_goToTheirVerifiers() {
    try (RoutedService service =
        new RoutedService(
            Map.of(
                "x", part("one", 1, scoring(1, "one")).service(),
                "y", part("two", 1, scoring(0, "two")).service()),
            new PassMark(2))) {
      assertThat(verify(service, "x"))
          .isEqualTo(new Verdict.Scored(1, "one", "one", List.of(), new PassMark(2)));
      assertThat(verify(service, "y"))
          .isEqualTo(new Verdict.Scored(0, "two", "two", List.of(), new PassMark(2)));
      assertThat(((Verdict.Unverifiable) verify(service, "z")).cause())
          .isEqualTo(Verdict.Cause.BAD_INPUT);
    }
  }
}
