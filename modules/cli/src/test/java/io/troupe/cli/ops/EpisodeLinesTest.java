package io.troupe.cli.ops;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.troupe.console.http.ConsoleJson;
import io.troupe.console.source.RolloutTexts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EpisodeLinesTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void of_episodeOfTheTraces_showsTurnsToolsAndTheEnd(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("rollouts.jsonl");
    Files.writeString(
        file,
        """
        {"group":2,"fence":2,"prompt":"2*3=","completions":["6"],"rewards":[1.0],"verdicts":["equal"],\
        "episodes":[{"stop":"completed","turns":[{"agent":"main","sequence":0,"observed":"",\
        "sampled":"[calc 2*3]","observed_tokens":0,"versions":[[3,4],[4,6]],"trained":true,"millis":31,\
        "tools":[{"id":"call_t0_0","name":"calc","outcome":"ran","exit":0,"millis":13,\
        "argument_bytes":3,"bytes":1}],"reward":0.25},{"agent":"main","sequence":0,"observed":"6;","sampled":"6",\
        "observed_tokens":2,"versions":[[4,2]],"trained":false,"millis":7,"tools":[]}]}]}
        """);
    RolloutTexts.Judged judged = new RolloutTexts(file).of(2, version -> version < 4).getFirst();
    assertThat(EpisodeLines.of(ConsoleJson.MAPPER.valueToTree(judged.episodes().getFirst())))
        .isEqualTo(
            """
                turn 1  main, sequence 0, 4 tokens of v3 with loss weight 0 and 6 tokens of v4 with loss weight 1, 31 ms  [calc 2*3]
                  tool calc  ran, exit 0, 13 ms, arguments 3 bytes, result 1 bytes
                  reward of the turn 0.2500
                  observed, 2 tokens of loss weight 0  6;
                turn 2  main, sequence 0, 2 tokens of v4 with loss weight 0, 7 ms  6
                ended by completed
            """);
  }

  @Test
  void of_answerWithoutTurns_isNothing() throws JsonProcessingException {
    assertThat(EpisodeLines.of(MissingNode.getInstance())).isEmpty();
    assertThat(EpisodeLines.of(JSON.readTree("{}"))).isEmpty();
  }
}
