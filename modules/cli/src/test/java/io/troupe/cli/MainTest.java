package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ChildJvm;
import io.troupe.base.process.ExitCode;
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
  void commandLine_argumentsThatNameACommand_isThatOneAlone() {
    assertThat(Main.commandLine().getSubcommands().keySet())
        .allSatisfy(
            name ->
                assertThat(
                        Main.commandLine(new String[] {name, "--json"}).getSubcommands().keySet())
                    .containsExactly(name));
    for (String[] none : List.of(new String[0], new String[] {"--help"}, new String[] {"trian"})) {
      assertThat(Main.commandLine(none).getSubcommands().keySet())
          .isEqualTo(Main.commandLine().getSubcommands().keySet());
    }
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

  @Test
  void execute_refusedCommandLine_saysWhyAndHowInThreeLines() {
    for (String[] arguments :
        List.of(new String[] {"eval", "--nonsense"}, new String[] {"tasks", "show"})) {
      String err = CommandOutput.ending(ExitCode.USAGE.code(), arguments).err();
      List<String> lines = err.lines().toList();
      assertThat(lines).as(err).hasSizeBetween(3, 4);
      assertThat(lines.getFirst()).startsWith("error: ");
      assertThat(lines.get(lines.size() - 2)).startsWith("usage: troupe " + arguments[0]);
      assertThat(lines.getLast()).endsWith(" --help lists the options");
    }
  }

  @Test
  void completion_script_knowsCommandsAndOptions() {
    String script = CommandOutput.ending(0, "completion").out();

    assertThat(script)
        .contains("complete -F _complete_troupe")
        .contains("--worst", "--try", "rollouts", "llama-factory");
  }
}
