package io.troupe.tasks.supervised;

import io.troupe.chat.ChatTemplate;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.engine.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Makes the tokens that a policy imitates of a row: those that it would have to sample.
 *
 * <p>The prompt of an answer is what a sampler would read: the template's text of all messages
 * before it, with the beginning of an answer. The answer, its thought and its calls are what the
 * template writes behind that, up to the end of the turn. It is encoded apart from the prompt, so
 * that the boundaries of tokens are those of sampling, which those of the whole text need not be.
 *
 * <p>Answers of a conversation are one sequence as long as each prompt extends the former answer. A
 * template that shows an answer in another way once it is past, as those of models that think do,
 * begins another sequence.
 *
 * @param template of the policy, with its choice of thinking
 * @param tokenizer of the policy
 */
public record SupervisedTokens(ChatTemplate template, Tokenizer tokenizer) {
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
                joined(
                    tokenizer.encode(unended(completion)), new int[] {tokenizer.endOfSequence()}));
        yield List.of(sequence.example(id, source));
      }
      case SupervisedRow.Chat chat -> conversation(chat);
    };
  }

  /** Returns a completion without the end of a text, which it may spell. */
  private String unended(String completion) {
    String end = tokenizer.spelling(tokenizer.endOfSequence());
    return !end.isEmpty() && completion.endsWith(end)
        ? completion.substring(0, completion.length() - end.length())
        : completion;
  }

  private List<SupervisedExample> conversation(SupervisedRow.Chat chat) {
    List<Growing> sequences = new ArrayList<>();
    String before = "";
    int[] written = {};
    for (ImitatedTurns.Turn turn : new ImitatedTurns(template, tokenizer, chat).all()) {
      int[] said = tokenizer.encodeWithSpecial(turn.said());
      int[] answer = joined(said, turn.unwritten());
      if (!sequences.isEmpty() && turn.asked().startsWith(before)) {
        int[] between = tokenizer.encodeWithSpecial(turn.asked().substring(before.length()));
        // A template that ends the turns of the past alone repeats the end that was added.
        boolean repeated = written.length > 0 && startsWith(between, written);
        int[] observed =
            repeated ? Arrays.copyOfRange(between, written.length, between.length) : between;
        sequences.getLast().extend(observed, answer);
      } else {
        sequences.add(new Growing(tokenizer.encodeWithSpecial(turn.asked()), answer));
      }
      before = turn.asked() + turn.said();
      written = turn.unwritten();
    }
    return IntStream.range(0, sequences.size())
        .mapToObj(
            i -> sequences.get(i).example(i == 0 ? chat.id() : chat.id() + "#" + i, chat.source()))
        .toList();
  }

  private static boolean startsWith(int[] ids, int[] beginning) {
    return ids.length >= beginning.length
        && Arrays.equals(ids, 0, beginning.length, beginning, 0, beginning.length);
  }

  private static int[] joined(int[] first, int[] second) {
    int[] both = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, both, first.length, second.length);
    return both;
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
