package io.troupe.cli.ops;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
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
        "sampled":"[calc 2*3]","tokens":10,"oldest":3,"newest":4,"tools":[{"id":"call_t0_0",\
        "name":"calc","outcome":"ran","exit":0,"millis":13,"bytes":1}]},{"agent":"main","sequence":0,\
        "observed":"6;","sampled":"6","tokens":2,"oldest":4,"newest":4,"tools":[]}]}]}
        """);
    RolloutTexts.Judged judged = new RolloutTexts(file).of(2).getFirst();
    assertThat(EpisodeLines.of(JSON.valueToTree(judged.episodes().getFirst())))
        .isEqualTo(
            """
                turn 1  main, sequence 0, v3 to v4, 10 tokens  [calc 2*3]
                  tool calc  ran, exit 0, 13 ms, 1 bytes
                  observed  6;
                turn 2  main, sequence 0, v4, 2 tokens  6
                ended by completed
            """);
  }

  @Test
  void of_answerWithoutTurns_isNothing() throws JsonProcessingException {
    assertThat(EpisodeLines.of(MissingNode.getInstance())).isEmpty();
    assertThat(EpisodeLines.of(JSON.readTree("{}"))).isEmpty();
  }
}
