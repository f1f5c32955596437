package io.troupe.tasks.supervised;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.ChatTemplate.Message;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.engine.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Makes the tokens that a policy imitates of a row: those that it would have to sample.
 *
 * <p>The prompt of an answer is what a sampler would read: the template's text of all messages
 * before it, with the beginning of an answer. The answer is encoded apart from it, and ends with
 * the token by which the template ends a turn. So the boundaries of tokens are those of sampling,
 * which those of the whole text need not be.
 *
 * <p>Answers of a conversation are one sequence as long as each prompt extends the former answer. A
 * template that shows an answer in another way once it is past, as those of models that think do,
 * begins another sequence.
 *
 * @param template of the policy; rendered without thinking
 * @param tokenizer of the policy
 */
public record SupervisedTokens(ChatTemplate template, Tokenizer tokenizer) {
  private static final Map<String, Object> WITHOUT_THINKING = Map.of("enable_thinking", false);

  /**
   * Returns the sequences of a row.
   *
   * @throws IllegalArgumentException if the tokenizer or the template refuses it
   */
  public List<SupervisedExample> examples(SupervisedRow row) {
    return switch (row) {
      case SupervisedRow.Text(var id, var source, var prompt, var completion) -> {
        Growing sequence =
            new Growing(
                tokenizer.encodeWithSpecial(tokenizer.withTextStart(prompt)),
                answer(completion, tokenizer.endOfSequence()));
        yield List.of(sequence.example(id, source));
      }
      case SupervisedRow.Chat chat -> conversation(chat);
    };
  }

  private List<SupervisedExample> conversation(SupervisedRow.Chat chat) {
    List<Growing> sequences = new ArrayList<>();
    String before = "";
    int ended = 0;
    for (int i = chat.imitatedFrom(); i < chat.messages().size(); i++) {
      if (!chat.messages().get(i).role().equals("assistant")) {
        continue;
      }
      Turn turn = turn(chat.messages().subList(0, i + 1));
      int[] answer = answer(turn.said(), turn.end());
      if (!sequences.isEmpty() && turn.asked().startsWith(before)) {
        int[] between = tokenizer.encodeWithSpecial(turn.asked().substring(before.length()));
        boolean repeated = between.length > 0 && between[0] == ended;
        sequences
            .getLast()
            .extend(repeated ? Arrays.copyOfRange(between, 1, between.length) : between, answer);
      } else {
        sequences.add(new Growing(tokenizer.encodeWithSpecial(turn.asked()), answer));
      }
      before = turn.asked() + turn.said();
      ended = turn.end();
    }
    return IntStream.range(0, sequences.size())
        .mapToObj(
            i -> sequences.get(i).example(i == 0 ? chat.id() : chat.id() + "#" + i, chat.source()))
        .toList();
  }

  /**
   * The last message of a conversation, which is an answer.
   *
   * @param asked tokens that a sampler would read
   * @param said the answer as the template has it
   * @param end the token that ends it
   */
  private record Turn(String asked, String said, int end) {}

  private Turn turn(List<Message> messages) {
    String asked =
        template.render(messages.subList(0, messages.size() - 1), true, WITHOUT_THINKING);
    String whole = template.render(messages, false, WITHOUT_THINKING);
    String content = messages.getLast().content();
    String said = whole.startsWith(asked + content) ? content : content.strip();
    int at = whole.lastIndexOf(said);
    if (at < 0) {
      throw new IllegalArgumentException(
          "the chat template leaves out an answer of the assistant, or changes it");
    }
    int[] behind = tokenizer.encodeWithSpecial(whole.substring(at + said.length()));
    boolean ends = behind.length > 0 && tokenizer.endIds().contains(behind[0]);
    return new Turn(asked, said, ends ? behind[0] : tokenizer.endOfSequence());
  }

  private int[] answer(String text, int end) {
    int[] tokens = tokenizer.encode(text);
    int[] ended = Arrays.copyOf(tokens, tokens.length + 1);
    ended[tokens.length] = end;
    return ended;
  }

  /** A sequence to which answers are added. */
  private static final class Growing {
    private final int[] prompt;
    private int[] completion;
    private boolean[] imitated;

    Growing(int[] prompt, int[] answer) {
      this.prompt = prompt;
      this.completion = answer;
      this.imitated = new boolean[answer.length];
      Arrays.fill(imitated, true);
    }

    void extend(int[] observed, int[] answer) {
      int from = completion.length + observed.length;
      int[] longer = Arrays.copyOf(completion, from + answer.length);
      System.arraycopy(observed, 0, longer, completion.length, observed.length);
      System.arraycopy(answer, 0, longer, from, answer.length);
      completion = longer;
      imitated = Arrays.copyOf(imitated, longer.length);
      Arrays.fill(imitated, from, longer.length, true);
    }

    SupervisedExample example(String id, String source) {
      return new SupervisedExample(id, source, prompt, completion, imitated);
    }
  }
}
