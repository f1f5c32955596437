package io.troupe.launch;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import picocli.CommandLine;

/** The exit code and the output of a command of a module below the command line. */
public record CommandEnd(int code, String out, String err) {
  /** Runs a command; as in the command line, a failure is a sentence and ends it with 4. */
  public static CommandEnd of(Object command, List<String> words) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        new CommandLine(command)
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .setExecutionExceptionHandler(
                (failure, line, _) -> {
                  line.getErr().println("error: " + failure.getMessage());
                  return 4;
                })
            .execute(words.toArray(String[]::new));
    return new CommandEnd(code, out.toString(), err.toString());
  }

  /** Standard output, which is one object. */
  public JsonNode json() throws IOException {
    return StoreJson.LINE.readTree(out);
  }
}
