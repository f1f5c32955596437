package io.troupe.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.cli.verify.InputLine.BadLineException;
import io.troupe.core.reward.JudgedBy;
import io.troupe.verifiers.Verifiers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a verifier reads of a line. */
final class InputLineTest {
  private static InputLine read(String verifier, String fields) throws BadLineException {
    String line = "{\"id\": 1, \"completion\": \"c\", %s}".formatted(fields);
    return InputLine.read(
            line.getBytes(StandardCharsets.UTF_8),
            verifier,
            Verifiers.with(List.of()).named(verifier).judgedBy())
        .getFirst();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "math    | \"answer\": \"\\\\frac{3}{8}\", \"level\": 3     | \\frac{3}{8}",
        "gsm8k   | \"answer\": 18, \"question\": \"q\", \"n\": null | 18",
        "numeric | \"answer\": 10000000.0                           | 10000000",
        "numeric | \"answer\": 2.50, \"source\": \"x\"              | 2.50",
        "math    | \"answer\": [\"18\"]                             | 18",
        "choice  | \"answer\": \"B\", \"subject\": \"art\"          | B",
        "text    | \"answer\": [\"yes\", \"no\"], \"level\": 1      | yes¦no",
        "judge   | \"prompt\": \"p\", \"level\": 1                  |",
        "judge   | \"answer\": [1, 2], \"level\": 1                 | [1,2]",
        "format  | \"level\": 1                                     |",
        "judge   | \"answer\": \"\", \"prompt\": \"p\"               |",
        "format  | \"answer\": \" \"                                |",
        "mbpp    | \"tests\": [\"assert f()\"], \"level\": 3        | {\"tests\":[\"assert f()\"]}",
        "mbpp    | \"answer\": {\"tests\": [\"t\"]}, \"level\": 3   | {\"tests\":[\"t\"]}",
        "humaneval | \"answer\": {\"test\": \"t\"}, \"prompt\": \"p\" | {\"test\":\"t\"}",
        "ifeval  | \"instruction_id_list\": [\"a:b\"], \"key\": 1   |"
            + " {\"instruction_id_list\":[\"a:b\"]}",
        "rlvr-ifeval | \"func_name\": \"f\", \"N\": 2, \"level\": 3 |"
            + " {\"func_name\":\"f\",\"N\":2}",
      })
  void read_fieldsThatTheVerifierDoesNotRead_doNotCount(
      String verifier, String fields, String answer) throws BadLineException {
    InputLine line = read(verifier, fields);

    assertThat(line.flaw()).isEmpty();
    assertThat(line.prompt().answer()).isEqualTo(answer == null ? "" : answer.replace("¦", "\n"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "math | \"solution\": \"18\" | \"answer\" must hold the answer, not absent",
        "math | \"answer\": null     | \"answer\" must hold the answer, not null",
        "math | \"answer\": \" \"    | \"answer\" must hold the answer, not \" \"",
        "math | \"answer\": []       | \"answer\" must hold the answer, not []",
        "math | \"answer\": [1, 2]   | \"answer\" must hold one answer, a text or a number, not"
            + " [1,2]",
        "math | \"answer\": [{}]     | \"answer\" must hold the answer, not [{}]",
        "math | \"answer\": {\"value\": 1} | name the field inside it, such as answer.value",
        "text | \"answer\": [\"a\", null] | \"answer\" must hold a text or a list of texts",
        "mbpp | \"test_list\": [\"t\"], \"prompt\": \"p\" | needs fields that the verifier reads:"
            + " tests,",
        "mbpp | \"answer\": 5        | \"answer\" must hold an object",
      })
  void read_withoutWhatTheVerifierReads_isRefusedByName(String verifier, String fields, String flaw)
      throws BadLineException {
    assertThat(read(verifier, fields).flaw()).contains(flaw);
  }

  @Test
  void read_verifierOfOnesOwn_seesEveryField() throws BadLineException {
    byte[] line =
        "{\"id\": 1, \"completion\": \"c\", \"answer\": 2.50, \"level\": 3}"
            .getBytes(StandardCharsets.UTF_8);

    InputLine read = InputLine.read(line, "mine", new JudgedBy.AllFields()).getFirst();

    assertThat(read.prompt().answer()).isEqualTo("{\"answer\":2.50,\"level\":3}");
    assertThat(read.prompt().row().json()).isEqualTo("{\"id\":1,\"answer\":2.50,\"level\":3}");
  }
}
