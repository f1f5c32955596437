package io.troupe.core.reward;

import io.troupe.core.reward.EpisodeText.ToolText;
import io.troupe.core.reward.EpisodeText.TurnText;
import java.util.ArrayList;
import java.util.List;

/**
 * An episode as one text that verifiers judge. Lines that begin with {@value #HEAD} are Troupe's;
 * every line of what was sampled or observed begins with {@link QuotedText#MARK}, and names are
 * quoted. So the text leads back to exactly one episode, whatever the policy and its tools wrote,
 * and only Troupe writes a line of Troupe's. docs/verifiers.md describes it.
 */
final class TraceText {
  private static final String HEAD = "=== ";

  private TraceText() {}

  static String of(EpisodeText episode) {
    List<String> lines = new ArrayList<>();
    int number = 0;
    for (TurnText turn : episode.turns()) {
      number++;
      if (!turn.observed().isEmpty()) {
        lines.add(HEAD + "observed");
        lines.add(QuotedText.of(turn.observed()));
      }
      lines.add(HEAD + "turn %d, agent %s".formatted(number, name(turn.agent())));
      lines.add(QuotedText.of(turn.sampled()));
      for (ToolText tool : turn.tools()) {
        lines.add(
            HEAD
                + "tool %s: %s, exit %d".formatted(name(tool.name()), tool.outcome(), tool.exit()));
      }
      if (turn.reward() != 0) {
        lines.add(HEAD + "reward %s".formatted(turn.reward()));
      }
    }
    if (episode.turns().isEmpty()) {
      lines.add(HEAD + "answer");
      lines.add(QuotedText.of(episode.answer()));
    } else {
      lines.add(HEAD + "ended: " + episode.stop());
    }
    return String.join("\n", lines) + "\n";
  }

  /** In quotation marks, on one line of printable ASCII. */
  private static String name(String name) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < name.length(); i++) {
      char each = name.charAt(i);
      if (each == '"' || each == '\\') {
        quoted.append('\\').append(each);
      } else if (each < ' ' || each > '~') {
        quoted.append("\\u%04x".formatted((int) each));
      } else {
        quoted.append(each);
      }
    }
    return quoted.append('"').toString();
  }
}
