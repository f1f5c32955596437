package io.troupe.run.compose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.verifiers.VerifierProvider;
import io.troupe.verifiers.Verifiers;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The verifiers that the modules of a run bring along, none of which is named at compile time. */
class ShippedVerifiersTest {
  private final Verifiers verifiers = Verifiers.with(List.of());

  @Test
  void with_noPlugins_areAllThatTheDocumentationNames() {
    assertThat(verifiers.all())
        .extracting(VerifierProvider::name)
        .containsExactly(
            "apps",
            "choice",
            "format",
            "gsm8k",
            "harbor",
            "humaneval",
            "if-multi",
            "ifbench",
            "ifeval",
            "judge",
            "math",
            "mbpp",
            "numeric",
            "rlvr-ifeval",
            "text");
    assertThat(verifiers.all())
        .filteredOn(VerifierProvider::runsCode)
        .extracting(VerifierProvider::name)
        .containsExactly("apps", "harbor", "humaneval", "mbpp");
  }

  @Test
  void named_verifierThatDoesNotExist_namesThoseThereAre() {
    assertThatThrownBy(() -> verifiers.named("mathematics"))
        .hasMessage(
            "there is no verifier 'mathematics'; there are apps, choice, format, gsm8k,"
                + " harbor, humaneval, if-multi, ifbench, ifeval, judge, math, mbpp, numeric, rlvr-ifeval,"
                + " text");
  }
}
