package io.troupe.gateway.agent;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.prompt.Prompt;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * The task of an agent in its episode.
 *
 * @param text of the prompt, without the token that begins texts
 * @param timeout of the episode
 */
record AgentTask(Prompt prompt, String text, SessionKey key, Duration timeout) {
  private static final String MODEL = "policy";

  /**
   * The task as JSON. The prompt's answer is not in it.
   *
   * @param url of the session, without {@code /v1}
   */
  ObjectNode json(String url) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("task", text)
        .put("base_url", url + "/v1")
        .put("api_key", key.secret())
        .put("model", MODEL);
  }

  /** Variables of a process of this task alone. */
  Map<String, String> variables(String url) {
    Map<String, String> variables = new HashMap<>();
    variables.put("TROUPE_TASK", text);
    variables.put("OPENAI_BASE_URL", url + "/v1");
    variables.put("OPENAI_API_KEY", key.secret());
    variables.put("ANTHROPIC_BASE_URL", url);
    variables.put("ANTHROPIC_AUTH_TOKEN", key.secret());
    return variables;
  }
}
