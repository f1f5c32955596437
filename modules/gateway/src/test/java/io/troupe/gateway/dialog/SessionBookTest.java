package io.troupe.gateway.dialog;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.EpisodeSequence;
import io.troupe.core.rollout.OpenEpisode;
import io.troupe.core.rollout.StalenessBound;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.rollout.ToolRun;
import io.troupe.core.rollout.Turn;
import io.troupe.core.weights.WeightVersion;
import io.troupe.gateway.GatewayFixture;
import io.troupe.gateway.dialog.ChatMessage.Role;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SessionBookTest {
  private static final PlainConversation PLAIN = new PlainConversation(GatewayFixture.TOKENIZER);
  private static final List<ToolDeclaration> TOOLS =
      List.of(
          new ToolDeclaration(
              "calc", "", "{\"type\":\"object\",\"properties\":{\"expression\":{}}}"));

  private static TurnRequest request(List<ChatMessage> messages) {
    return new TurnRequest("m", messages, TOOLS, true, 0, List.of(), false, false);
  }

  private static ChatMessage user(String text) {
    return ChatMessage.of(Role.USER, text);
  }

  /** A book after one more turn, and what the agent was sent. */
  private record Step(SessionBook book, ParsedTurn turn) {}

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record ParsedTurn(TurnReply.ParsedAnswer answer, int[] request) {}

  private static Step step(SessionBook book, List<ChatMessage> messages, String sampled) {
    TurnRequest request = request(messages);
    MessageChain chain = MessageChain.of(request);
    Optional<SessionBook.Recognised> found = book.recognise(request, chain);
    int[] ids =
        found
            .flatMap(
                each ->
                    PLAIN
                        .following(each.turn(), each.added())
                        .map(
                            more ->
                                joined(
                                    each.turn().request(),
                                    each.turn().completion().tokens(),
                                    more)))
            .orElseGet(() -> PLAIN.whole(messages, TOOLS));
    SessionBook seen = found.map(each -> book.withResults(each, 7)).orElse(book);
    OpenEpisode.Answered answered =
        new OpenEpisode.Answered(Turn.MAIN, ids, GatewayFixture.completion(sampled), 0, 5);
    SessionBook.Kept kept =
        (SessionBook.Kept) seen.record(answered, chain.whole(), PLAIN.parse(sampled, TOOLS));
    return new Step(kept.book(), new ParsedTurn(kept.answer(), ids));
  }

  private static int[] joined(int[]... parts) {
    return Arrays.stream(parts).flatMapToInt(Arrays::stream).toArray();
  }

  private static SessionBook empty() {
    return SessionBook.of(OpenEpisode.under(GatewayFixture.LEASE));
  }

  @Test
  void recognise_callAndResultSentBack_leadToTheSampledIds() {
    Step first = step(empty(), List.of(user("2*3=")), "[calc 2*3]");
    ChatCall call = first.turn.answer().calls().getFirst();
    assertThat(call).isEqualTo(new ChatCall("call_t0_0", "calc", "{\"expression\":\"2*3\"}"));
    Step second =
        step(
            first.book,
            List.of(
                user("2*3="),
                // Arguments written in another way, and a call id of the client's own.
                ChatMessage.assistant(
                    "", "", List.of(new ChatCall("x", "calc", "{ \"expression\" : \"2*3\" }"))),
                ChatMessage.tool("x", "6", false)),
            "6");
    assertThat(GatewayFixture.TOKENIZER.decode(second.turn.request()))
        .isEqualTo("2*3=[calc 2*3]6;");
    Episode episode = second.book.stopped(StopReason.COMPLETED, Set.of());
    assertThat(episode.sequences()).hasSize(1);
    assertThat(episode.sequences().getFirst().sampled())
        .containsExactly(
            true, true, true, true, true, true, true, true, true, true, false, false, true);
  }

  @Test
  void recognise_changedAnswer_beginsASequenceInWhichItIsObserved() {
    Step first = step(empty(), List.of(user("2*3=")), "7");
    Step second =
        step(first.book, List.of(user("2*3="), ChatMessage.assistant("8", "", List.of())), "6");
    Episode episode = second.book.stopped(StopReason.COMPLETED, Set.of());
    assertThat(episode.sequences())
        .extracting(each -> GatewayFixture.TOKENIZER.decode(each.prompt()))
        .containsExactly("2*3=", "2*3=8");
    assertThat(episode.sampledTokens()).isEqualTo(2);
  }

  @Test
  void withResults_resultOfAMintedCall_isATimedToolRun() {
    Step first = step(empty(), List.of(user("2*3=")), "[calc 2*3]");
    ChatMessage echo = first.turn.answer().message();
    Step second =
        step(
            first.book,
            List.of(user("2*3="), echo, ChatMessage.tool("call_t0_0", "no", true)),
            "6");
    assertThat(second.book.stopped(StopReason.COMPLETED, Set.of()).turns().getFirst().tools())
        .containsExactly(new ToolRun("call_t0_0", "calc", ToolRun.Outcome.RAN, 1, 5, 2, 20, 2));
  }

  @Test
  void stopped_sameRequestTwice_trainsTheAnswerThatWasContinued() {
    Step first = step(empty(), List.of(user("2*3=")), "7");
    Step again = step(first.book, List.of(user("2*3=")), "8");
    Step third =
        step(
            again.book,
            List.of(user("2*3="), ChatMessage.assistant("7", "", List.of()), user("4")),
            "6");
    assertThat(trained(third.book.stopped(StopReason.COMPLETED, Set.of())))
        .containsExactly(new boolean[] {true, false, true}, new boolean[] {false});
    assertThat(trained(again.book.stopped(StopReason.COMPLETED, Set.of())))
        .containsExactly(new boolean[] {false}, new boolean[] {true});
  }

  @Test
  void stopped_answerThatNeverArrived_hasNoLossWeightBesideOthers() {
    Step first = step(empty(), List.of(user("2*3=")), "7");
    Step other = step(first.book, List.of(user("2+3=")), "5");
    assertThat(trained(other.book.stopped(StopReason.COMPLETED, Set.of(1))))
        .containsExactly(new boolean[] {true}, new boolean[] {false});
    assertThat(trained(first.book.stopped(StopReason.COMPLETED, Set.of(0))))
        .containsExactly(new boolean[] {true});
  }

  private static List<boolean[]> trained(Episode episode) {
    return episode.sequences().stream()
        .map(each -> each.trainable(new StalenessBound(0), WeightVersion.BASE))
        .toList();
  }

  @Test
  void record_afterTheEnd_isLate() {
    SessionBook ended = empty().end();
    OpenEpisode.Answered answered =
        new OpenEpisode.Answered(Turn.MAIN, new int[] {2}, GatewayFixture.completion("7"), 0, 0);
    assertThat(ended.record(answered, "", PLAIN.parse("7", List.of())))
        .isEqualTo(new SessionBook.Late("the episode of g3#9 has ended"));
  }

  /** An agent that repeats, edits, branches, compacts, and goes on. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void record_randomAgents_trainsExactlyWhatWasSampled(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    for (int episode = 0; episode < 20; episode++) {
      SessionBook book = empty();
      List<List<ChatMessage>> conversations = new ArrayList<>();
      List<int[]> requests = new ArrayList<>();
      List<String> samples = new ArrayList<>();
      int turns = random.nextInt(1, 8);
      for (int t = 0; t < turns; t++) {
        List<ChatMessage> messages = next(conversations, random);
        String sampled =
            random.nextBoolean() ? "[calc %d]".formatted(random.nextInt(3)) : digits(random);
        Step step = step(book, messages, sampled);
        book = step.book;
        requests.add(step.turn.request());
        samples.add(sampled);
        List<ChatMessage> more = new ArrayList<>(messages);
        more.add(step.turn.answer().message());
        conversations.add(more);
      }
      check(book.stopped(StopReason.COMPLETED, Set.of()), requests, samples);
    }
  }

  private static String digits(SplittableRandom random) {
    return Integer.toString(random.nextInt(200));
  }

  private static List<ChatMessage> next(
      List<List<ChatMessage>> conversations, SplittableRandom random) {
    if (conversations.isEmpty() || random.nextInt(6) == 0) {
      return List.of(user(digits(random)));
    }
    List<ChatMessage> from =
        new ArrayList<>(conversations.get(random.nextInt(conversations.size())));
    ChatMessage last = from.getLast();
    switch (random.nextInt(5)) {
      case 0 -> from.removeLast(); // asked again
      case 1 -> from.set(from.size() - 1, ChatMessage.assistant("edited", "", List.of()));
      default -> {
        for (ChatCall call : last.calls()) {
          from.add(ChatMessage.tool(call.id(), digits(random), false));
        }
        if (last.calls().isEmpty()) {
          from.add(user(digits(random)));
        }
      }
    }
    return from;
  }

  private static void check(Episode episode, List<int[]> requests, List<String> samples) {
    assertThat(episode.turns()).hasSize(requests.size());
    for (EpisodeSequence sequence : episode.sequences()) {
      int[] all = joined(sequence.prompt(), sequence.tokens());
      int at = sequence.prompt().length;
      for (Turn turn : sequence.turns()) {
        at += turn.observed().length;
        int[] sampled = GatewayFixture.TOKENIZER.encode(samples.get(turn.ordinal()));
        assertThat(Arrays.copyOf(all, at)).containsExactly(requests.get(turn.ordinal()));
        assertThat(Arrays.copyOfRange(all, at, at + sampled.length)).containsExactly(sampled);
        at += sampled.length;
      }
    }
  }
}
