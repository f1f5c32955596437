package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ChildJvm;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class MainTest {
  /** Modules below the command line start it by its name. */
  @Test
  void main_ofChildJvms_isThisClass() {
    assertThat(ChildJvm.MAIN).isEqualTo(Main.class.getName());
  }

  @Test
  void commandLine_commandsThatOtherModulesHold_areThere() {
    assertThat(Main.commandLine().getSubcommands().keySet())
        .contains("train", "soak", "launch", "status", "export");
  }

  @Test
  void help_everyCommandForUsers_isInOneSection() {
    List<String> shown =
        Main.commandLine().getSubcommands().entrySet().stream()
            .filter(command -> !command.getValue().getCommandSpec().usageMessage().hidden())
            .map(Map.Entry::getKey)
            .toList();
    assertThat(CommandOverview.SECTIONS)
        .flatExtracting(CommandOverview.Section::entries)
        .extracting(CommandOverview.Entry::name)
        .containsExactlyInAnyOrderElementsOf(shown);
  }
}
