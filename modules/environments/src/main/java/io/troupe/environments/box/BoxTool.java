package io.troupe.environments.box;

import io.troupe.environments.ToolSchema;
import java.util.List;

/** The tools that a policy may have in a box. */
public enum BoxTool {
  /** A Python session: variables stay from one call to the next. */
  PYTHON,
  /** A session of bash: folder, variables and background jobs stay. */
  SHELL,
  /** The files of the working folder. */
  FILES;

  /** Returns the tools as the policy is shown them. */
  public List<ToolSchema> schemas() {
    return switch (this) {
      case PYTHON ->
          List.of(
              tool(
                  "python",
                  "Runs Python in a session that keeps its variables, and returns what it prints"
                      + " and the value of a last expression. Standard library only, no network.",
                  "code"));
      case SHELL ->
          List.of(
              tool(
                  "shell",
                  "Runs a command of bash in a session that keeps its folder and variables, and"
                      + " returns what it prints. No network.",
                  "command"));
      case FILES ->
          List.of(
              tool("read_file", "Returns the text of a file.", "path"),
              tool("write_file", "Writes a text file.", "path", "text"),
              tool("list_files", "Lists the files below a folder.", "path"));
    };
  }

  private static ToolSchema tool(String name, String description, String... parameters) {
    StringBuilder properties = new StringBuilder();
    StringBuilder required = new StringBuilder();
    for (String parameter : parameters) {
      String comma = properties.isEmpty() ? "" : ",";
      properties.append(comma).append('"').append(parameter).append("\":{\"type\":\"string\"}");
      required.append(comma).append('"').append(parameter).append('"');
    }
    return new ToolSchema(
        name,
        description,
        "{\"type\":\"object\",\"properties\":{%s},\"required\":[%s]}"
            .formatted(properties, required));
  }
}
