package io.troupe.cli.ops;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The text of {@code troupe status} on a run. */
final class StatusTextTest {
  private static List<String> lines(String troubles) throws Exception {
    return lines(troubles, "");
  }

  private static List<String> lines(String troubles, String headline) throws Exception {
    return lines(troubles, headline, "");
  }

  private static List<String> lines(String troubles, String headline, String lost)
      throws Exception {
    return StatusText.of(
            new ObjectMapper()
                .readTree(
                    """
                    {"facts": {"run": "r", "steps": 9, "max_staleness": 2}, "version": 3,
                     "phase": "running", "lost": "%s", "bottleneck": "Rollout is the bottleneck.",
                     "as_of": 100500, "troubles": [%s], "stages": [], "headline": {%s},
                     "accounting": {"admitted": 4, "trained": 4}, "balanced": true}
                    """
                        .formatted(lost, troubles, headline)))
        .lines()
        .toList();
  }

  @Test
  void of_infrastructureOutOfOrder_saysWhatForHowLongAndWhyOldestFirst() throws Exception {
    String worker =
        """
        {"who": "worker rollout-1", "what": "is suspended after 3 failures in a row",
         "since": 40000, "reason": "no route\\u001b[31m"}
        """;
    String verifiers =
        """
        {"who": "verifiers", "what": "are away", "since": 99000, "reason": "no image"}
        """;
    assertThat(lines(worker + "," + verifiers))
        .startsWith(
            "r  running  step 3 of 9  v3",
            "Rollout is the bottleneck.",
            "! worker rollout-1 is suspended after 3 failures in a row, for 60 s: no"
                + " route\ufffd[31m",
            "! verifiers are away, for 1 s: no image",
            "");
  }

  @Test
  void of_episodesWithTurns_saysTheirTimesAndWhyTheyEnded() throws Exception {
    assertThat(
            lines(
                "",
                """
                "episode_turns": 2.5, "episode_seconds": 4, "episode_sample_seconds": 1,
                "episode_tool_seconds": 3, "episode_stop_completed": 0.75,
                "episode_stop_tool": 0, "episode_stop_max_turns": 0.25
                """))
        .contains(
            "turns 2.500   an episode 4.000 s, sampling 1.000 s, tools 3.000 s   ended by completed 75%, max_turns 25%");
  }

  @Test
  void of_lostGroups_saysWhy() throws Exception {
    assertThat(lines("", "", "2 groups: 2 failed: no number"))
        .contains("! lost 2 groups: 2 failed: no number");
  }

  @Test
  void of_everythingInOrder_saysNothingOfIt() throws Exception {
    assertThat(lines("")).noneMatch(line -> line.startsWith("!"));
  }
}
