package io.troupe.run.evaluation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.chat.Thinking;
import io.troupe.config.RunConfig;
import io.troupe.run.compose.UnsupportedPolicyException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EvaluatedPolicyTest {
  private static RunConfig shipped(String file) {
    return RunConfig.load(Path.of("../../conf").resolve(file), List.of()).config();
  }

  @TempDir private Path folder;

  /** A checkpoint whose template has the choice of thinking, or another template. */
  private Path checkpoint(String template) throws IOException {
    Path saved = Path.of("../engine-djl/src/test/resources/io/troupe/engine/djl/saved/qwen3");
    Path checkpoint = Files.createDirectories(folder.resolve("policy"));
    for (String file :
        List.of("config.json", "generation_config.json", "model.safetensors", "tokenizer.json")) {
      Files.copy(saved.resolve(file), checkpoint.resolve(file));
    }
    Files.writeString(checkpoint.resolve("chat_template.jinja"), template);
    return checkpoint;
  }

  @ParameterizedTest
  @CsvSource({"AUTO, A:<think></think>", "FALSE, A:<think></think>", "TRUE, A:<think>"})
  void template_ofCheckpoint_hasTheChoiceOfThinking(Thinking thinking, String begun)
      throws IOException {
    EvaluatedPolicy policy =
        EvaluatedPolicy.ofCheckpoint(
            checkpoint("A:<think>{{ '' if enable_thinking else '</think>' }}"), 32, 1, thinking);
    assertThat(policy.template().render(List.of(), true, Map.of())).isEqualTo(begun);
    assertThat(policy.description().containsKey("thinking")).isEqualTo(thinking != Thinking.AUTO);
  }

  @Test
  void template_thatHasNoChoice_refusesOne() throws IOException {
    EvaluatedPolicy policy = EvaluatedPolicy.ofCheckpoint(checkpoint("A:"), 32, 1, Thinking.TRUE);
    assertThatThrownBy(policy::template)
        .isInstanceOf(UnsupportedPolicyException.class)
        .hasMessageContaining("policy.thinking (true)");
  }

  @Test
  void refuseTurns_policyThatCallsTools_isRefusedWithTheWayOut() {
    assertThatThrownBy(
            () -> EvaluatedPolicy.refuseTurns("tools-1", shipped("tools-arithmetic.yaml")))
        .isInstanceOf(UnsupportedPolicyException.class)
        .hasMessageContainingAll("tools-1", "episode.environment", "--endpoint");
    assertThatCode(() -> EvaluatedPolicy.refuseTurns("q", shipped("quickstart.yaml")))
        .doesNotThrowAnyException();
  }
}
