package io.troupe.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.hash.Sha256;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.tasks.DataSetSettings.HeldOut;
import io.troupe.tasks.DataSetSettings.LengthLimits;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.sets.DataSet;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class Gsm8kTaskTest {
  private static final Path SHIPPED = Path.of("../../conf/data/gsm8k/train.jsonl.gz");

  private static final String BETTY =
      """
      {"question": " Betty has $5. How many? \\n", "answer": "Half is $<<5/2=2.5>>2.5.\\nSo <<1+1=2>>2.\\n#### 1,002 "}
      """;

  @TempDir private Path folder;

  @Test
  void load_row_followsTheTemplate() throws IOException {
    Task task = gsm8k(file("a.jsonl", BETTY));

    assertThat(task.train())
        .containsExactly(
            new Prompt(
                new PromptId("gsm8k_0"),
                "gsm8k",
                "Q: Betty has $5. How many?\nA:",
                "1,002",
                " Half is $2.5.\nSo 2.\nThe answer is 1,002."));
    assertThat(task.heldOut()).isEmpty();
    assertThat(task.alphabet()).isEqualTo("\n $,.0125:?ABHQSTaefhilmnorstwy");
  }

  @Test
  void load_gzipWhateverItsName_isUnpacked() throws IOException {
    Path packed = folder.resolve("data.txt");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
      out.write(BETTY.getBytes(StandardCharsets.UTF_8));
    }

    assertThat(gsm8k(packed).train()).isEqualTo(gsm8k(file("a.jsonl", BETTY)).train());
  }

  @Test
  void load_shippedFile_isWholeAndAsItsReadmeSays() throws Exception {
    Task task = Sets.of(DataSet.GSM8K, SHIPPED).heldOut(new HeldOut.Share(0.2, 1)).load();

    assertThat(task.train()).hasSize(5_978);
    assertThat(task.heldOut()).hasSize(1_495);
    assertThat(task.alphabet().codePoints()).hasSize(114);
    assertThat(task.train()).allMatch(p -> p.answer().matches("-?[0-9,]+"));
    assertThat(task.train()).noneMatch(p -> p.solution().contains("<<"));
    assertThat(Files.readString(SHIPPED.resolveSibling("README.md")))
        .contains(Sha256.hex(SHIPPED) + "  train.jsonl.gz");
  }

  @Test
  void load_limits_keepTheFirstThatFitUnderTheirOwnIds() throws IOException {
    Task task =
        Sets.of(DataSet.GSM8K, SHIPPED)
            .heldOut(new HeldOut.Share(0.25, 3))
            .cut(new LengthLimits(110, 120, 8))
            .load();

    assertThat(task.train()).hasSize(6);
    assertThat(task.heldOut()).hasSize(2);
    assertThat(task.train()).allMatch(p -> p.text().length() <= 110);
    assertThat(task.train()).allMatch(p -> p.solution().length() <= 120);
    List<Prompt> all = gsm8k(SHIPPED).train();
    assertThat(all).containsAll(task.train()).containsAll(task.heldOut());
  }

  @Test
  void load_limitsThatLeaveNothing_sayWhatToRaise() throws IOException {
    Path file = file("a.jsonl", BETTY);

    assertThatThrownBy(() -> Sets.of(DataSet.GSM8K, file).cut(new LengthLimits(10, 99, 5)).load())
        .isInstanceOf(TaskDataException.class)
        .hasMessage(
            file
                + ": nothing is left to train on: 1 of 1 rows left out, with more than 10"
                + " characters of prompt, such as gsm8k_0; raise max_prompt_characters");
  }

  @Test
  void load_secondFile_isHeldOutUnderItsOwnIds() throws IOException {
    Path train = file("train.jsonl", BETTY + BETTY);
    Path test = file("test.jsonl", "\r\n" + BETTY.replace("Betty", "Anna").replace("\n", "\r\n"));

    Task task =
        Sets.of(DataSet.GSM8K, train)
            .heldOut(new HeldOut.OtherFiles(List.of(test), Map.of()))
            .load();

    assertThat(task.train()).extracting(p -> p.id().value()).containsExactly("gsm8k_0", "gsm8k_1");
    assertThat(task.heldOut()).extracting(p -> p.id().value()).containsExactly("gsm8k_heldout_0");
    assertThat(task.heldOut().getFirst().text()).startsWith("Q: Anna has");
  }

  @Test
  void load_badLines_namesEveryOneWithRuleAndValue() throws IOException {
    Path file =
        file(
            "bad.jsonl",
            BETTY
                + """
                {"question": "q", "answer": "no mark"}

                {"question": "  ", "answer": "#### 1"}
                {"answer": "#### 1"}
                {"question": 5, "answer": "#### 1"}
                {"question": "q", "answer": "#### five"}
                [1]
                {"question": "q",
                {"question": "q", "answer": "#### 1"} {}
                {"question": "q", "question": "r", "answer": "#### 1"}
                """);

    assertThatThrownBy(() -> gsm8k(file))
        .isInstanceOf(TaskDataException.class)
        .hasMessageStartingWith(file + ": 9 of 10 rows are refused:\n")
        .hasMessageContaining(
            file + ":2: \"answer\" must hold its final answer behind ####, not no mark\n")
        .hasMessageContaining(
            file + ":4: \"question\" must be a string that is not blank, not \"  \"\n")
        .hasMessageContaining(
            file
                + ":5: \"question\" must be a string that is not blank, not absent; the row has"
                + " answer\n")
        .hasMessageContaining(file + ":6: \"question\" must be a string that is not blank, not 5\n")
        .hasMessageContaining(
            file + ":7: the final answer behind #### must be a number, not five\n")
        .hasMessageContaining(file + ":8: a line must be one JSON object, not [1]\n")
        .hasMessageContaining(file + ":9: a line must be one JSON object (")
        .hasMessageContaining(file + ":10: a line must be one JSON object (")
        .hasMessageContaining(file + ":11: a line must be one JSON object (Duplicate field")
        .hasMessageEndingWith("\ncorrect or remove them");
  }

  @Test
  void load_manyEqualBreaches_areOneLineWithTheFirstRows() throws IOException {
    Path file = file("bad.jsonl", "[]\n".repeat(1_200) + BETTY);

    assertThatThrownBy(() -> gsm8k(file))
        .hasMessage(
            """
            FILE: 1,200 of 1,201 rows are refused:
              FILE:1: a line must be one JSON object, not []
                and 1,199 more: 2, 3, 4, …
            correct or remove them\
            """
                .replace("FILE", file.toString()));
  }

  @Test
  void load_lineThatIsNotUtf8_isNamed() throws IOException {
    Path file = file("a.jsonl", BETTY);
    Files.write(file, new byte[] {(byte) 0xff, '\n'}, StandardOpenOption.APPEND);

    assertThatThrownBy(() -> gsm8k(file))
        .hasMessageContaining(file + ":2: a line is UTF-8 text, and this one is not");
  }

  @Test
  void load_missingFileFolderOrCutGzip_saysWhichAndWhatToDo() throws IOException {
    assertThatThrownBy(() -> gsm8k(folder.resolve("none")))
        .hasMessageStartingWith(folder.resolve("none") + ": the data file does not exist; give");
    assertThatThrownBy(() -> gsm8k(folder))
        .hasMessageStartingWith(folder + ": the data file is no regular file; give");
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (OutputStream out = new GZIPOutputStream(packed)) {
      out.write(BETTY.getBytes(StandardCharsets.UTF_8));
    }
    Path cut = folder.resolve("cut.gz");
    Files.write(cut, Arrays.copyOf(packed.toByteArray(), packed.size() - 12));

    assertThatThrownBy(() -> gsm8k(cut))
        .isInstanceOf(TaskDataException.class)
        .hasMessageStartingWith(cut + ": the gzip file is damaged or cut off");
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void load_damagedBytes_isReadOrRefusedAsBadData(long seed) throws IOException {
    Random random = new Random(seed);
    byte[] bytes = BETTY.repeat(3).getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 1 + random.nextInt(4); i++) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
    }
    Path file = folder.resolve("fuzz.jsonl");
    Files.write(file, bytes);

    try {
      assertThat(gsm8k(file).train()).isNotEmpty();
    } catch (TaskDataException refused) {
      assertThat(refused).hasMessageStartingWith(file.toString());
    }
  }

  private Path file(String name, String content) throws IOException {
    return Files.writeString(folder.resolve(name), content);
  }

  private static Task gsm8k(Path file) throws IOException {
    return Sets.of(DataSet.GSM8K, file).load();
  }
}
