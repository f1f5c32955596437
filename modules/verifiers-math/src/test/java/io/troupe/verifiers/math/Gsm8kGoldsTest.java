package io.troupe.verifiers.math;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/**
 * The published solutions of GSM8K's training set, and each with another result. Every twentieth,
 * or with {@code -Dtroupe.gsm8k.every=1} all 7,473.
 */
class Gsm8kGoldsTest {
  private static final Path SHIPPED = Path.of("../../conf/data/gsm8k/train.jsonl.gz");

  @Test
  void verify_everyPublishedSolution_passesAndItsNeighboursFail() throws IOException {
    JsonMapper json = JsonMapper.builder().build();
    int every = Integer.getInteger("troupe.gsm8k.every", 20);
    int rows = 0;
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                new GZIPInputStream(Files.newInputStream(SHIPPED)), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (rows++ % every != 0) {
          continue;
        }
        JsonNode row = json.readTree(line);
        String solution = row.get("answer").asText();
        int mark = solution.lastIndexOf("####");
        String gold = solution.substring(mark + 4).strip();
        String work = solution.substring(0, mark);
        BigInteger value = new BigInteger(gold.replace(",", ""));

        assertThat(passes(gold, solution)).as(solution).isTrue();
        assertThat(passes(gold, work + "The answer is $" + gold + ".")).as(solution).isTrue();
        assertThat(passes(gold, work + "\\boxed{" + value + ".0}")).as(solution).isTrue();
        for (BigInteger other :
            new BigInteger[] {
              value.add(BigInteger.ONE),
              value.negate().subtract(BigInteger.ONE),
              value.shiftLeft(4).add(BigInteger.TWO)
            }) {
          if (!other.equals(value)) {
            assertThat(passes(gold, work + "#### " + other)).as(solution).isFalse();
          }
        }
      }
    }
    assertThat(rows).isEqualTo(7_473);
  }

  private static boolean passes(String gold, String completion) {
    Verdict verdict =
        MathVerifier.training()
            .verify(new Prompt(new PromptId("p"), "gsm8k", "", gold, ""), completion);
    return verdict instanceof Verdict.Scored scored && scored.passed();
  }
}
