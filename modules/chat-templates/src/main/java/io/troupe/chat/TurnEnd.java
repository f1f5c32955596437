package io.troupe.chat;

import io.troupe.chat.ChatTemplate.Message;
import io.troupe.engine.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a chat template writes behind an answer of the assistant: by this a policy that answers in
 * chats ends its completions, beside the checkpoint's own ends, and this it is taught.
 *
 * <p>It is found by rendering an answer that is a private character, and taking what follows that
 * character. So an answer that is spelled like the end changes nothing.
 */
public sealed interface TurnEnd {
  /** A special token, as most templates have. */
  record EndToken(int id, String text) implements TurnEnd {}

  /** A text that is no special token: a stop string. */
  record EndText(String text) implements TurnEnd {}

  /** The template writes nothing behind an answer: the checkpoint's own end applies. */
  record Unmarked() implements TurnEnd {}

  /** Stands for an answer. */
  String MARK = "\uF8FF";

  /**
   * Returns the end of a policy's turns.
   *
   * @param template of the policy, with its choice of {@link Thinking}
   * @return that of a conversation with a system message where the template refuses one without;
   *     none where it refuses both
   */
  static TurnEnd of(ChatTemplate template, Tokenizer tokenizer) {
    for (List<Message> before : List.of(List.<Message>of(), List.of(Message.system("s")))) {
      try {
        return of(before, template, tokenizer);
      } catch (IllegalArgumentException refused) {
        // Asked with a system message next.
      }
    }
    return new Unmarked();
  }

  private static TurnEnd of(List<Message> before, ChatTemplate template, Tokenizer tokenizer) {
    List<Message> answered = new ArrayList<>(before);
    answered.add(Message.user("q"));
    answered.add(Message.assistant(MARK));
    TurnEnd last = behind(template.render(answered, false, Map.of()), tokenizer);
    if (!(last instanceof Unmarked)) {
      return last;
    }
    // A template may end only the turns of the past. What follows there may also begin the next
    // turn, so that it counts as an end if the checkpoint names it as one.
    List<Message> past = new ArrayList<>(answered);
    past.add(Message.user("r"));
    TurnEnd former = behind(template.render(past, false, Map.of()), tokenizer);
    return former instanceof EndToken token && tokenizer.endIds().contains(token.id())
        ? former
        : last;
  }

  private static TurnEnd behind(String rendered, Tokenizer tokenizer) {
    int mark = rendered.lastIndexOf(MARK);
    String rest = mark < 0 ? "" : rendered.substring(mark + MARK.length()).stripLeading();
    if (rest.isEmpty()) {
      return new Unmarked();
    }
    int[] ids = tokenizer.encodeWithSpecial(rest);
    int text = 0;
    while (text < ids.length && !tokenizer.isSpecial(ids[text])) {
      text++;
    }
    if (text > 0) {
      return new EndText(tokenizer.decode(Arrays.copyOf(ids, text)).strip());
    }
    return new EndToken(ids[0], rest.substring(0, spelled(rest, ids[0], tokenizer)));
  }

  /** Returns the length of the shortest beginning of a text that is a token. */
  private static int spelled(String text, int id, Tokenizer tokenizer) {
    int[] one = {id};
    for (int end = 1; end < text.length(); end++) {
      if (Arrays.equals(tokenizer.encodeWithSpecial(text.substring(0, end)), one)) {
        return end;
      }
    }
    return text.length();
  }

  /** Returns the ids that end a completion, beside the checkpoint's own. */
  default Set<Integer> stopIds() {
    return this instanceof EndToken(int id, String _) ? Set.of(id) : Set.of();
  }

  /** Returns the texts that end a completion. */
  default List<String> stops() {
    return this instanceof EndText(String text) ? List.of(text) : List.of();
  }

  /** Returns the ids that end an answer which is imitated. */
  default int[] ids(Tokenizer tokenizer) {
    return switch (this) {
      case EndToken(int id, String _) -> new int[] {id};
      case EndText(String text) -> tokenizer.encodeWithSpecial(text);
      case Unmarked() -> new int[] {tokenizer.endOfSequence()};
    };
  }

  /** Returns how the end is named to the user. */
  default String described(Tokenizer tokenizer) {
    return switch (this) {
      case EndToken(int id, String text) -> "%s (%d)".formatted(text, id);
      case EndText(String text) -> "the text \"%s\", which is no special token".formatted(text);
      case Unmarked() ->
          "%d, the checkpoint's own; the chat template writes none"
              .formatted(tokenizer.endOfSequence());
    };
  }
}
