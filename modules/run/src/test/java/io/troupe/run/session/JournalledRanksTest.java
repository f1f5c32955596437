package io.troupe.run.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.run.Input;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class JournalledRanksTest {
  @Test
  void wentBack_goesToTheCoordinator_whoseEventIsTheSentence() {
    List<Input> inputs = new ArrayList<>();
    List<String> sentences = new ArrayList<>();
    JournalledRanks ranks = new JournalledRanks(inputs::add, sentences::add);
    ranks.say("trainer rank 1 is process 4711");
    ranks.wentBack(2, "piece 1 of 3 is lost");
    assertThat(sentences).containsExactly("trainer rank 1 is process 4711");
    assertThat(inputs).containsExactly(new Input.RanksWentBack(2, "piece 1 of 3 is lost"));
  }
}
