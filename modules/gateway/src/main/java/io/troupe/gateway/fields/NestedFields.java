package io.troupe.gateway.fields;

import static io.troupe.gateway.fields.FieldEntries.FREE_FORM;
import static io.troupe.gateway.fields.FieldEntries.any;
import static io.troupe.gateway.fields.FieldEntries.each;
import static io.troupe.gateway.fields.FieldEntries.fields;
import static io.troupe.gateway.fields.FieldEntries.flag;
import static io.troupe.gateway.fields.FieldEntries.members;
import static io.troupe.gateway.fields.FieldEntries.oneOf;
import static io.troupe.gateway.fields.FieldEntries.only;
import static io.troupe.gateway.fields.FieldEntries.passed;
import static io.troupe.gateway.fields.FieldEntries.read;
import static io.troupe.gateway.fields.FieldEntries.text;
import static io.troupe.gateway.fields.FieldEntries.whole;

import java.util.Map;

/**
 * The fields of the objects in a request: messages, their parts, calls, tools, settings. Clients
 * send back what they were sent, with what they have made of it, such as {@code parsed_arguments}.
 */
final class NestedFields {
  private static final String NOT_TEXT = "the policy reads and writes texts";
  private static final String DISTRIBUTION = FieldEntries.DISTRIBUTION;

  private NestedFields() {}

  /** A part of a content; its type is checked where it is read. */
  static FieldShape parts() {
    return new FieldShape.TextOr(
        each(
            new FieldShape.Fields(
                Map.ofEntries(
                    read("type", text()),
                    read("text", text()),
                    passed("id", any()),
                    passed("annotations", any()),
                    passed("logprobs", any()),
                    passed("citations", any()),
                    passed("cache_control", any()),
                    passed("prompt_cache_breakpoint", any()),
                    only("refusal", NOT_TEXT),
                    read("image_url", any()),
                    read("input_audio", any()),
                    read("file", any()),
                    read("source", any())))));
  }

  /** A message of chat completions. */
  static FieldShape message() {
    return fields(
        read("role", text()),
        read("content", parts()),
        read("name", text()),
        read("reasoning_content", text()),
        read("reasoning", text()),
        read("tool_calls", each(call())),
        read("tool_call_id", text()),
        only("refusal", "a refusal is shown to the policy as content"),
        only("function_call", "it is the former form of tool_calls"),
        only("audio", NOT_TEXT),
        only("images", NOT_TEXT, "[]"),
        passed("thinking_blocks", any()),
        passed("provider_specific_fields", any()),
        passed("annotations", any()),
        passed("parsed", any()),
        passed("id", any()),
        passed("type", oneOf("text", "message")));
  }

  private static FieldShape call() {
    return fields(
        read("id", text()),
        passed("index", whole(0)),
        read("type", oneOf("function")),
        passed("provider_specific_fields", any()),
        read(
            "function",
            fields(
                read("name", text()),
                read("arguments", new FieldShape.TextOr(members())),
                passed("provider_specific_fields", any()),
                passed("parsed_arguments", any()))));
  }

  /** A tool of chat completions. */
  static FieldShape chatTool() {
    return fields(
        read("type", text()),
        read("function", function("parameters")),
        only("defer_loading", "tools are shown at once", "false"),
        passed("cache_control", any()));
  }

  /** The function of a tool; its schema is a wish, which binds nothing that is sampled. */
  static FieldShape.Fields function(String schema) {
    return fields(
        read("type", text()),
        read("name", text()),
        read("description", text()),
        read(schema, members()),
        passed("strict", flag()),
        passed("output_schema", any()),
        passed("cache_control", any()),
        passed("allowed_callers", any()),
        passed("eager_input_streaming", any()),
        only("defer_loading", "tools are shown at once", "false"),
        only("input_examples", "a tool is shown by its schema", "[]"));
  }

  /** An item of the input of responses. */
  static FieldShape item() {
    return fields(
        read("type", text()),
        read("role", text()),
        read("content", itemContent()),
        read("call_id", text()),
        read("name", text()),
        read("arguments", new FieldShape.TextOr(members())),
        read("output", parts()),
        passed("id", any()),
        passed("status", any()),
        passed("phase", any()),
        passed("summary", any()),
        passed("encrypted_content", any()),
        passed("caller", any()),
        passed("namespace", any()),
        passed("parsed_arguments", any()));
  }

  private static FieldShape itemContent() {
    return new FieldShape.TextOr(
        each(
            fields(
                read("type", text()),
                read("text", text()),
                only("refusal", "a refusal is shown to the policy as output_text"),
                passed("annotations", any()),
                passed("logprobs", any()),
                passed("parsed", any()),
                passed("prompt_cache_breakpoint", any()),
                read("image_url", any()),
                read("file_id", any()),
                read("file_data", any()),
                read("file_url", any()),
                read("filename", any()),
                read("detail", any()),
                read("input_audio", any()))));
  }

  /** A message of Anthropic's. */
  static FieldShape anthropicMessage() {
    return fields(
        read("role", text()),
        read("content", new FieldShape.TextOr(each(block()))),
        passed("id", any()),
        passed("cache_control", any()));
  }

  private static FieldShape block() {
    return fields(
        read("type", text()),
        read("text", text()),
        read("thinking", text()),
        read("id", text()),
        read("name", text()),
        read("input", members()),
        read("tool_use_id", text()),
        read("content", parts()),
        read("is_error", flag()),
        read("source", any()),
        passed("title", any()),
        passed("context", any()),
        passed("signature", any()),
        passed("data", any()),
        passed("citations", any()),
        passed("cache_control", any()),
        passed("caller", any()),
        passed("toolset_name", any()),
        passed("parsed_output", any()));
  }

  /** How a stream is sent. */
  static FieldShape streamOptions() {
    return fields(
        read("include_usage", flag()),
        only("continuous_usage_stats", "counts come at the end", "false"),
        only("include_obfuscation", "no padding is sent", "false"));
  }

  /** Responses' wish for reasoning. */
  static FieldShape reasoning() {
    return fields(
        read("effort", effort()),
        passed("summary", any()),
        passed("generate_summary", any()),
        only("context", "the chat template decides which reasoning is shown again", "\"auto\""),
        only("mode", "there is one mode", "\"standard\""));
  }

  static FieldShape effort() {
    return oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max");
  }

  /** Responses' wish for a form of texts. */
  static FieldShape textConfig() {
    return fields(
        only("format", FREE_FORM, "{\"type\":\"text\"}"),
        only("verbosity", DISTRIBUTION, "\"medium\""));
  }

  /** Anthropic's wish for thinking. */
  static FieldShape thinking() {
    return fields(
        read("type", oneOf("enabled", "disabled", "adaptive")),
        read("budget_tokens", whole(1)),
        only("display", "thinking is sent whole", "\"summarized\""));
  }

  /** Anthropic's wish for an output. */
  static FieldShape outputConfig() {
    return fields(
        read("effort", effort()), only("format", FREE_FORM), only("task_budget", DISTRIBUTION));
  }

  /** Anthropic's edits of a conversation; the chat template decides which thinking is shown. */
  static FieldShape contextManagement() {
    return fields(
        read(
            "edits",
            each(fields(read("type", oneOf("clear_thinking_20251015")), passed("keep", any())))));
  }
}
