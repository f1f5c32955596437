package io.troupe.tasks.supervised;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.chat.ChatTemplate.Message;
import io.troupe.tasks.rows.RefusalLimit;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The forms of supervised rows. */
final class SupervisedFormatTest {
  @TempDir private Path folder;

  private List<SupervisedRow> read(boolean chat, Set<String> sources, String... lines)
      throws IOException {
    Path file = Files.write(folder.resolve("rows.jsonl"), List.of(lines));
    return new SupervisedFormat("messages", "prompt", "completion", "source", chat, sources)
        .read(List.of(file));
  }

  @Test
  void read_allShapes_makesTextsAndConversations() throws IOException {
    List<SupervisedRow> rows =
        read(
            false,
            Set.of(),
            "{\"prompt\":\"1+1=\",\"completion\":\"2\",\"prompt_id\":\"a\",\"source\":\"sums\"}",
            "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"y\"},{\"type\":\"text\",\"text\":\"o\"}]}]}",
            "{\"prompt\":[{\"role\":\"user\",\"content\":\"hi\"}],\"completion\":\"yo\",\"problem\":{\"dataset_name\":\"chats\"}}");

    List<Message> conversation = List.of(Message.user("hi"), Message.assistant("yo"));
    assertThat(rows)
        .containsExactly(
            new SupervisedRow.Text("a", "sums", "1+1=", "2"),
            new SupervisedRow.Chat("row_1", "", conversation, 0),
            new SupervisedRow.Chat("row_2", "chats", conversation, 1));
  }

  @Test
  void read_textsAsChat_areMessages() throws IOException {
    assertThat(read(true, Set.of(), "{\"prompt\":\"hi\",\"completion\":\"yo\"}"))
        .containsExactly(
            new SupervisedRow.Chat(
                "row_0", "", List.of(Message.user("hi"), Message.assistant("yo")), 1));
  }

  @Test
  void read_dottedMessagesField_isFollowed() throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("rows.jsonl"),
            "{\"chat\":{\"turns\":[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"yo\"}]}}");

    assertThat(
            new SupervisedFormat("chat.turns", "prompt", "completion", "source", false, Set.of())
                .read(List.of(file)))
        .containsExactly(
            new SupervisedRow.Chat(
                "row_0", "", List.of(Message.user("hi"), Message.assistant("yo")), 0));
  }

  @Test
  void read_roleThatNoTemplateKnows_isRefused() {
    assertThatThrownBy(
            () ->
                read(
                    false,
                    Set.of(),
                    "{\"messages\":[{\"role\":\"human\",\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"yo\"}]}"))
        .hasMessageContaining(
            "must be from one of [assistant, developer, function, system, tool, user]");
  }

  @Test
  void read_sources_takesTheirRows() throws IOException {
    String one = "{\"prompt\":\"a\",\"completion\":\"b\",\"source\":\"one\"}";
    String two = "{\"prompt\":\"c\",\"completion\":\"d\",\"source\":\"two\"}";

    assertThat(read(false, Set.of("two"), one, two))
        .containsExactly(new SupervisedRow.Text("row_1", "two", "c", "d"));
    assertThatThrownBy(() -> read(false, Set.of("three"), one, two))
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining(
            "no row has \"source\": \"three\", which sources asks for; there are [one, two]");
  }

  @Test
  void read_badRows_namesEach() {
    assertThatThrownBy(
            () ->
                read(
                    false,
                    Set.of(),
                    "{\"prompt\":\"a\"}",
                    "{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}",
                    "{\"prompt\":\"a\",\"completion\":\"b\",\"id\":\"x\"}",
                    "{\"prompt\":\"a\",\"completion\":\"b\",\"id\":\"x\"}"))
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining("rows.jsonl:1: \"completion\" must be a string")
        .hasMessageContaining("rows.jsonl:2: \"messages\" must hold an answer of the assistant")
        .hasMessageContaining("rows.jsonl:4: \"id\" must not occur twice");
  }

  @Test
  void split_share_holdsOutTheSameRowsWhenTheDataGrow() {
    List<SupervisedRow> rows =
        IntStream.range(0, 100)
            .<SupervisedRow>mapToObj(i -> new SupervisedRow.Text("r" + i, "", "p", "c"))
            .toList();

    SupervisedSet few = SupervisedSet.split(rows.subList(0, 90), 0.2, 7);
    SupervisedSet all = SupervisedSet.split(rows, 0.2, 7);

    assertThat(few.heldOut()).hasSize(18);
    assertThat(all.heldOut()).hasSize(20).hasSizeGreaterThan(few.heldOut().size());
    assertThat(few.heldOut().stream().filter(all.heldOut()::contains).count())
        .isGreaterThanOrEqualTo(14);
    assertThat(all.train()).doesNotContainAnyElementsOf(all.heldOut()).hasSize(80);
  }

  @Test
  void read_rowsThatBreakARule_areCountedWithinTheLimit() throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("rows.jsonl"),
            "{\"prompt\": \"p\", \"completion\": \"c\"}\n".repeat(8)
                + "{\"prompt\": \"p\"}\n".repeat(2));
    SupervisedFormat format =
        new SupervisedFormat("messages", "prompt", "completion", "source", false, Set.of());

    SupervisedFormat.ReadRows read =
        format.read(List.of(file), new RefusalLimit(0.2, "max_refused_share"));

    assertThat(read.rows()).hasSize(8);
    assertThat(read.refused().rows()).isEqualTo(10);
    assertThat(read.refused().count()).isEqualTo(2);
    assertThatThrownBy(() -> format.read(List.of(file), new RefusalLimit(0.1, "max_refused_share")))
        .isInstanceOf(TaskDataException.class)
        .hasMessageStartingWith(file + ": 2 of 10 rows are refused:\n  " + file + ":9: ")
        .hasMessageContaining("\n    and 1 more: 10\n")
        .hasMessageEndingWith("raise max_refused_share (0.1)");
  }
}
