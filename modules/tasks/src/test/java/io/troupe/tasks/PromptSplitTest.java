package io.troupe.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PromptSplitTest {
  @Test
  void construct_sameIdTwice_namesBothPlaces() {
    assertThatThrownBy(() -> new PromptSplit(List.of(prompt("a"), prompt("a")), List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("prompt ids are unique, but a is train prompt 0 and train prompt 1");
    assertThatThrownBy(
            () -> new PromptSplit(List.of(prompt("b"), prompt("a")), List.of(prompt("a"))))
        .hasMessage("prompt ids are unique, but a is train prompt 1 and held-out prompt 0");
  }

  @Test
  void construct_withoutTrainingPrompts_isRefused() {
    assertThatThrownBy(() -> new PromptSplit(List.of(), List.of(prompt("a"))))
        .hasMessage("a task has at least one prompt to train on");
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void split_anySeed_partitionsInOrder(long seed) {
    List<Prompt> prompts = prompts(97);

    PromptSplit sets = PromptSplit.split(prompts, 0.3, seed);

    assertThat(sets.heldOut()).hasSize(29).isSubsetOf(prompts);
    assertThat(sets.train()).hasSize(68).doesNotContainAnyElementsOf(sets.heldOut());
    assertThat(prompts).containsSubsequence(sets.heldOut()).containsSubsequence(sets.train());
  }

  @Test
  void split_dataThatGrow_keepMostHeldOutPromptsHeldOut() {
    PromptSplit before = PromptSplit.split(prompts(1_000), 0.2, 5);
    PromptSplit after = PromptSplit.split(prompts(1_100), 0.2, 5);

    assertThat(before.heldOut().stream().filter(after.heldOut()::contains)).hasSizeGreaterThan(180);
  }

  @Test
  void split_shareZero_holdsNothingOut() {
    assertThat(PromptSplit.split(prompts(10), 0, 1).heldOut()).isEmpty();
  }

  @Test
  void alphabet_charactersOutsideTheBasicPlane_areWhole() {
    PromptSplit sets =
        new PromptSplit(
            List.of(new Prompt(new PromptId("a"), "s", "c😀", "x", "b")), List.of(prompt("z")));

    assertThat(sets.alphabet()).isEqualTo("bct😀");
  }

  private static List<Prompt> prompts(int count) {
    List<Prompt> prompts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      prompts.add(prompt("p" + i));
    }
    return prompts;
  }

  private static Prompt prompt(String id) {
    return new Prompt(new PromptId(id), "s", "t", "", "");
  }
}
