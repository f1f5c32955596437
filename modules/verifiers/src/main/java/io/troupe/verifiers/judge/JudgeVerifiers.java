package io.troupe.verifiers.judge;

import io.troupe.core.reward.JudgedBy;
import io.troupe.verifiers.BuiltInVerifier;
import io.troupe.verifiers.Isolation;
import io.troupe.verifiers.ThoughtReading;
import io.troupe.verifiers.VerifierFamily;
import io.troupe.verifiers.VerifierOptions;
import io.troupe.verifiers.VerifierProvider;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The verifiers that ask a language model. */
public final class JudgeVerifiers implements VerifierFamily {
  @Override
  public List<VerifierProvider> providers() {
    return List.of(
        new BuiltInVerifier(
            "judge",
            "the score that a language model gives, over an OpenAI-compatible endpoint",
            new JudgedBy.AnyAnswer(),
            Isolation.SELF,
            false,
            true,
            ThoughtReading.DROP,
            options -> new LlmJudge(judge(options))));
  }

  private static JudgeSettings judge(VerifierOptions options) throws IOException {
    String endpoint =
        options
            .text("endpoint")
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "verifier judge needs the option endpoint, such as"
                            + " http://127.0.0.1:8000/v1"));
    String model =
        options
            .text("model")
            .orElseThrow(
                () -> new IllegalArgumentException("verifier judge needs the option model"));
    Optional<String> rubric = options.text("rubric");
    return new JudgeSettings(
        URI.create(endpoint),
        model,
        apiKey(options.text("api_key_env"), options.text("api_key_file")),
        rubric.isEmpty() ? Rubric.CORRECTNESS : new Rubric(Files.readString(Path.of(rubric.get()))),
        options.integer("max_tokens", 16, 1),
        options.integer("max_chars", 400_000, 1),
        options.integer("attempts", 4, 1),
        options.duration("timeout", Duration.ofSeconds(60)));
  }

  /**
   * Reads the key from the environment or a file, because options are written to run folders and
   * process lists.
   */
  private static Optional<String> apiKey(Optional<String> variable, Optional<String> file)
      throws IOException {
    if (variable.isPresent()) {
      String key = System.getenv(variable.get());
      if (key == null || key.isBlank()) {
        throw new IllegalArgumentException(
            "option api_key_env names %s, which is not set".formatted(variable.get()));
      }
      return Optional.of(key.strip());
    }
    return file.isEmpty()
        ? Optional.empty()
        : Optional.of(Files.readString(Path.of(file.get())).strip());
  }
}
