package io.troupe.gateway.dialog;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.gateway.dialog.ChatMessage.Role;
import io.troupe.gateway.dialog.TurnReply.ParsedAnswer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TurnMemoryTest {
  private static TurnRequest request(String question, String... more) {
    List<ChatMessage> messages = new ArrayList<>();
    messages.add(ChatMessage.of(Role.USER, question));
    for (int i = 0; i < more.length; i++) {
      messages.add(
          i % 2 == 0
              ? ChatMessage.assistant(more[i], "", List.of())
              : ChatMessage.of(Role.USER, more[i]));
    }
    return new TurnRequest("", messages, List.of(), true, 0, List.of(), false, false);
  }

  private static Optional<SessionBook.Recognised> recognised(
      TurnMemory memory, TurnRequest request) {
    return memory.recognise(request, MessageChain.of(request));
  }

  private static SessionBook.SampledTurn keep(TurnMemory memory, TurnRequest asked, String answer) {
    return memory.keep(
        MessageChain.of(asked).whole(),
        new int[] {1, 2},
        ChatmlFixture.completion(answer, true),
        new ParsedAnswer("", answer, List.of()));
  }

  @Test
  void recognise_answerSentBack_isTheTurnAndWhatIsNew() {
    TurnMemory memory = new TurnMemory(100);
    SessionBook.SampledTurn kept = keep(memory, request("a"), "b");

    SessionBook.Recognised found = recognised(memory, request("a", "b", "c")).orElseThrow();
    assertThat(found.turn()).isSameAs(kept);
    assertThat(found.added()).extracting(ChatMessage::content).containsExactly("c");
    assertThat(recognised(memory, request("a", "x", "c"))).isEmpty();
  }

  /** A turn here has 2 ids of the request and 2 sampled ones. */
  @Test
  void keep_moreThanTheBound_forgetsWhatWasContinuedLongestAgo() {
    TurnMemory memory = new TurnMemory(8);
    keep(memory, request("a"), "b");
    keep(memory, request("c"), "d");
    assertThat(recognised(memory, request("a", "b", "e"))).isPresent();

    keep(memory, request("f"), "g");

    assertThat(recognised(memory, request("c", "d", "e"))).isEmpty();
    assertThat(recognised(memory, request("a", "b", "e"))).isPresent();
    assertThat(recognised(memory, request("f", "g", "e"))).isPresent();
  }

  @Test
  void keep_sameAnswerAgain_countsOnce() {
    TurnMemory memory = new TurnMemory(8);
    keep(memory, request("a"), "b");
    keep(memory, request("c"), "d");
    keep(memory, request("c"), "d");
    assertThat(recognised(memory, request("a", "b", "e"))).isPresent();
  }
}
