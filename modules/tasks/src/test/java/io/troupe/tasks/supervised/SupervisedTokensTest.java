package io.troupe.tasks.supervised;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.ChatTemplate.Message;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.engine.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The tokens of a row that a policy imitates. */
final class SupervisedTokensTest {
  /** One id a character; {@code [} and {@code ]} are the special tokens 1 and 2, and 2 ends. */
  private static final class Letters implements Tokenizer {
    @Override
    public int[] encode(String text) {
      return text.codePoints().toArray();
    }

    @Override
    public int[] encodeWithSpecial(String text) {
      return text.codePoints().map(c -> c == '[' ? 1 : c == ']' ? 2 : c).toArray();
    }

    @Override
    public String decode(int[] tokens) {
      StringBuilder text = new StringBuilder();
      for (int token : tokens) {
        text.appendCodePoint(token == 1 ? '[' : token == 2 ? ']' : token);
      }
      return text.toString();
    }

    @Override
    public byte[] bytes(int token) {
      return Character.toString(token).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public int vocabularySize() {
      return 256;
    }

    @Override
    public int endOfSequence() {
      return 3;
    }

    @Override
    public Set<Integer> endIds() {
      return Set.of(3, 2);
    }
  }

  private static final ChatTemplate PLAIN = (messages, open, _) -> text(messages, open, false);

  /**
   * A template like Qwen3's: the last answer is behind an empty thought, and earlier ones are not.
   */
  private static final ChatTemplate THINKING = (messages, open, _) -> text(messages, open, true);

  private static String text(List<Message> messages, boolean open, boolean thinks) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < messages.size(); i++) {
      Message message = messages.get(i);
      boolean answer = message.role().equals("assistant");
      String thought = thinks && answer && i == messages.size() - 1 ? "<>" : "";
      text.append('[').append(message.role().charAt(0)).append(thought);
      text.append(message.content().strip()).append("]\n");
    }
    return open ? text.append("[a").append(thinks ? "<>" : "").toString() : text.toString();
  }

  private static SupervisedRow.Chat chat(String... contents) {
    List<Message> messages = new ArrayList<>();
    for (int i = 0; i < contents.length; i++) {
      messages.add(i % 2 == 0 ? Message.user(contents[i]) : Message.assistant(contents[i]));
    }
    return new SupervisedRow.Chat("c", "s", messages, 0);
  }

  /** The tokens of an example, those that are imitated in capitals. */
  private static String shown(SupervisedExample example) {
    Letters letters = new Letters();
    StringBuilder text = new StringBuilder(letters.decode(example.prompt())).append("|");
    for (int t = 0; t < example.completion().length; t++) {
      String one = letters.decode(new int[] {example.completion()[t]});
      text.append(
          example.imitated()[t] ? one.equals("]") ? "}" : one.toUpperCase(Locale.ROOT) : one);
    }
    return text.toString();
  }

  private static List<String> shown(ChatTemplate template, SupervisedRow row) {
    return new SupervisedTokens(template, new Letters())
        .examples(row).stream().map(SupervisedTokensTest::shown).toList();
  }

  @Test
  void examples_text_imitatesTheCompletionAndItsEnd() {
    assertThat(shown(PLAIN, new SupervisedRow.Text("t", "", "ab", "cd")))
        .containsExactly("ab|CD\u0003");
  }

  @Test
  void examples_conversation_imitatesAllAnswersInOneSequence() {
    assertThat(shown(PLAIN, chat("hi", "yes", "so", "no")))
        .containsExactly("[uhi]\n[a|YES}\n[uso]\n[aNO}");
  }

  @Test
  void examples_templateThatTrims_imitatesWhatItShows() {
    assertThat(shown(PLAIN, chat("hi", " yes ", "so", "no\n")))
        .containsExactly("[uhi]\n[a|YES}\n[uso]\n[aNO}");
  }

  @Test
  void examples_templateThatForgetsThoughts_beginsASequenceForEachAnswer() {
    List<SupervisedExample> examples =
        new SupervisedTokens(THINKING, new Letters()).examples(chat("hi", "yes", "so", "no"));

    assertThat(examples.stream().map(SupervisedTokensTest::shown))
        .containsExactly("[uhi]\n[a<>|YES}", "[uhi]\n[ayes]\n[uso]\n[a<>|NO}");
    assertThat(examples.stream().map(SupervisedExample::id)).containsExactly("c", "c#1");
  }

  @Test
  void examples_imitatedFromALaterMessage_readsTheAnswersBefore() {
    SupervisedRow.Chat whole = chat("hi", "yes", "so", "no");

    assertThat(
            shown(
                PLAIN, new SupervisedRow.Chat("c", "s", whole.messages(), 0, Map.of(), Set.of(3))))
        .containsExactly("[uhi]\n[ayes]\n[uso]\n[a|NO}");
  }
}
