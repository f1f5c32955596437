package io.troupe.gateway.fields;

import static io.troupe.gateway.fields.FieldEntries.DISTRIBUTION;
import static io.troupe.gateway.fields.FieldEntries.FREE_FORM;
import static io.troupe.gateway.fields.FieldEntries.above;
import static io.troupe.gateway.fields.FieldEntries.any;
import static io.troupe.gateway.fields.FieldEntries.atLeast;
import static io.troupe.gateway.fields.FieldEntries.each;
import static io.troupe.gateway.fields.FieldEntries.fields;
import static io.troupe.gateway.fields.FieldEntries.flag;
import static io.troupe.gateway.fields.FieldEntries.ids;
import static io.troupe.gateway.fields.FieldEntries.members;
import static io.troupe.gateway.fields.FieldEntries.ofServer;
import static io.troupe.gateway.fields.FieldEntries.oneOf;
import static io.troupe.gateway.fields.FieldEntries.only;
import static io.troupe.gateway.fields.FieldEntries.passed;
import static io.troupe.gateway.fields.FieldEntries.read;
import static io.troupe.gateway.fields.FieldEntries.served;
import static io.troupe.gateway.fields.FieldEntries.share;
import static io.troupe.gateway.fields.FieldEntries.stops;
import static io.troupe.gateway.fields.FieldEntries.text;
import static io.troupe.gateway.fields.FieldEntries.whole;
import static io.troupe.gateway.fields.FieldEntries.withoutTools;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.gateway.dialog.MalformedTurnException;
import io.troupe.gateway.fields.FieldShape.TextOr;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * All fields of all routes of {@code troupe serve} and of a run's gateway. A field that is not here
 * is refused. docs/sidecars.md shows the same table, and a test compares both.
 */
public final class FieldTable {
  private static final Set<RequestRoute> COMPLETIONS = EnumSet.of(RequestRoute.COMPLETIONS);
  private static final Set<RequestRoute> CHAT = EnumSet.of(RequestRoute.CHAT);
  private static final Set<RequestRoute> RESPONSES = EnumSet.of(RequestRoute.RESPONSES);
  private static final Set<RequestRoute> TOKENIZE = EnumSet.of(RequestRoute.TOKENIZE);

  /** Both of Anthropic's routes: what can be asked can be counted. */
  private static final Set<RequestRoute> MESSAGES =
      EnumSet.of(RequestRoute.MESSAGES, RequestRoute.COUNT_TOKENS);

  /** The routes that have vLLM's own fields. */
  private static final Set<RequestRoute> VLLM =
      EnumSet.of(RequestRoute.COMPLETIONS, RequestRoute.CHAT);

  private static final Set<RequestRoute> OPENAI =
      EnumSet.of(RequestRoute.COMPLETIONS, RequestRoute.CHAT, RequestRoute.RESPONSES);
  private static final Set<RequestRoute> AGENTS =
      EnumSet.of(
          RequestRoute.CHAT,
          RequestRoute.RESPONSES,
          RequestRoute.MESSAGES,
          RequestRoute.COUNT_TOKENS);
  private static final Set<RequestRoute> SAMPLED = union(AGENTS, COMPLETIONS);
  private static final Set<RequestRoute> CONVERSATIONS =
      EnumSet.of(RequestRoute.CHAT, RequestRoute.TOKENIZE);

  private static final String ONE_ANSWER = "there is one answer a request; ask again for another";
  private static final String IDS_OF_RUN =
      "a run keeps ids and log-probabilities itself, and agents that call tools need none";
  private static final String WHOLE_PROMPTS = "prompts of agents are not cut";
  private static final String TEXTS = "the policy reads and writes texts";
  private static final String SPECIAL = "texts come without special tokens; ask for token ids";
  private static final String TEMPLATE = "conversations are shown by the checkpoint's own template";
  private static final String FORMER_TOOLS = "it is the former form of tools; send tools";
  private static final String KEPT_NOWHERE = "responses are not kept; send the whole input";
  private static final String FULL_VALUES = "there is no such computation here";

  private static final Map<RequestRoute, Map<String, FieldRule>> RULES = rules();

  private FieldTable() {}

  /**
   * Checks all fields of a request.
   *
   * @throws MalformedTurnException if one is not known, or asks for what is not offered
   */
  public static void check(RequestRoute route, RequestReader reader, JsonNode body)
      throws MalformedTurnException {
    new FieldCheck(reader).members(body, of(route), "");
  }

  /**
   * Checks the fields of a tool that is a function.
   *
   * @param schema name of the field that holds the parameters
   * @param where path of the tool
   * @throws MalformedTurnException as {@link #check}
   */
  public static void checkTool(JsonNode tool, String schema, String where)
      throws MalformedTurnException {
    FieldShape.Fields function = NestedFields.function(schema);
    new FieldCheck(RequestReader.GATEWAY).members(tool, function.rules(), where + ".");
  }

  /** The fields of a route by their names. */
  public static Map<String, FieldRule> of(RequestRoute route) {
    return RULES.getOrDefault(route, Map.of());
  }

  private static Set<RequestRoute> union(Set<RequestRoute> some, Set<RequestRoute> others) {
    Set<RequestRoute> all = EnumSet.copyOf(some);
    all.addAll(others);
    return all;
  }

  @SafeVarargs
  private static void on(
      Map<RequestRoute, Map<String, FieldRule>> rules,
      Set<RequestRoute> routes,
      Map.Entry<String, FieldRule>... rows) {
    for (RequestRoute route : routes) {
      Map<String, FieldRule> known = rules.computeIfAbsent(route, _ -> new HashMap<>());
      for (Map.Entry<String, FieldRule> row : rows) {
        if (known.put(row.getKey(), row.getValue()) != null) {
          throw new IllegalStateException("%s has %s twice".formatted(route, row.getKey()));
        }
      }
    }
  }

  private static Map<RequestRoute, Map<String, FieldRule>> rules() {
    Map<RequestRoute, Map<String, FieldRule>> rules = new EnumMap<>(RequestRoute.class);
    sampling(rules);
    lengthsAndEnds(rules);
    numbersOfTokens(rules);
    bookkeeping(rules);
    prompts(rules);
    conversations(rules);
    responses(rules);
    messages(rules);
    commands(rules);
    return rules;
  }

  private static void sampling(Map<RequestRoute, Map<String, FieldRule>> rules) {
    on(
        rules,
        SAMPLED,
        read("model", text()),
        ofServer("temperature", atLeast(0)),
        ofServer("top_p", above(0, 1)),
        ofServer("top_k", whole(-1)),
        ofServer("min_p", share()),
        ofServer("repetition_penalty", above(0, Double.MAX_VALUE)),
        ofServer("seed", whole(Long.MIN_VALUE, Long.MAX_VALUE)));
    on(
        rules,
        VLLM,
        withoutTools("n", whole(1, 4096), ONE_ANSWER, "1"),
        only("best_of", ONE_ANSWER, "1"),
        only("use_beam_search", FULL_VALUES, "false"),
        passed("length_penalty", atLeast(-Double.MAX_VALUE)), // of beam search alone
        only("presence_penalty", FULL_VALUES, "0"),
        only("frequency_penalty", FULL_VALUES, "0"),
        only("logit_bias", FULL_VALUES, "{}"),
        only("logits_processors", FULL_VALUES, "[]"),
        only("allowed_token_ids", FULL_VALUES),
        only("bad_words", FULL_VALUES, "[]"),
        only("response_format", FREE_FORM, "{\"type\":\"text\"}"),
        only("structured_outputs", FREE_FORM, "{}"),
        only("guided_json", FREE_FORM),
        only("guided_regex", FREE_FORM),
        only("guided_choice", FREE_FORM),
        only("guided_grammar", FREE_FORM),
        only("guided_decoding_backend", FREE_FORM),
        only("guided_whitespace_pattern", FREE_FORM),
        only("watermarking", DISTRIBUTION, "false"),
        only("vllm_xargs", FULL_VALUES, "{}"),
        only("kv_transfer_params", FULL_VALUES),
        only("ec_transfer_params", FULL_VALUES));
  }

  private static void lengthsAndEnds(Map<RequestRoute, Map<String, FieldRule>> rules) {
    on(rules, union(VLLM, MESSAGES), read("max_tokens", whole(0)));
    on(rules, CHAT, read("max_completion_tokens", whole(1)));
    on(rules, RESPONSES, read("max_output_tokens", whole(1)));
    on(rules, MESSAGES, read("stop_sequences", stops()));
    on(
        rules,
        SAMPLED,
        served("stop_token_ids", ids(), "an agent ends answers by texts; send stop texts", "[]"));
    on(
        rules,
        VLLM,
        read("stop", stops()),
        only("min_tokens", FULL_VALUES, "0"),
        only("ignore_eos", FULL_VALUES, "false"),
        only("thinking_token_budget", FULL_VALUES, "-1"),
        only("repetition_detection", FULL_VALUES),
        withoutTools("include_stop_str_in_output", flag(), "stop texts are cut off", "false"));
  }

  /** Log-probabilities, ids, and the form of streams. */
  private static void numbersOfTokens(Map<RequestRoute, Map<String, FieldRule>> rules) {
    on(rules, COMPLETIONS, read("logprobs", whole(0, 1000)), read("echo", flag()));
    on(
        rules,
        CHAT,
        withoutTools("logprobs", flag(), IDS_OF_RUN, "false"),
        only("top_logprobs", "only the log-probability of the sampled token is returned", "0"),
        only("echo", "an answer is the policy's part of a message", "false"),
        only("include_reasoning", "reasoning is sent", "true"),
        only("return_prompt_text", "ask for return_token_ids", "false"));
    on(
        rules,
        RESPONSES,
        only("top_logprobs", "log-probabilities are of completions and chats", "0"));
    on(
        rules,
        VLLM,
        withoutTools("prompt_logprobs", whole(0, 1000), IDS_OF_RUN),
        withoutTools("return_token_ids", flag(), IDS_OF_RUN, "false"),
        withoutTools("return_tokens_as_token_ids", flag(), IDS_OF_RUN, "false"),
        withoutTools("detokenize", flag(), "agents read texts", "true"),
        withoutTools("stream_interval_ms", whole(0, 10_000), "tokens are sent as they come"),
        passed("stream_interval", whole(1)), // how a stream is cut changes no text
        passed("return_mm_kwargs", any()),
        only("return_token_offsets", "ask for return_token_ids", "false"),
        only("routed_experts_prompt_start", FULL_VALUES, "0"),
        only("logprob_token_ids", "only the sampled token's log-probability is returned"),
        only("skip_special_tokens", SPECIAL, "true"),
        passed("spaces_between_special_tokens", flag()), // there are none in texts
        read("stream_options", NestedFields.streamOptions()));
    on(rules, RESPONSES, read("stream_options", NestedFields.streamOptions()));
    on(rules, SAMPLED, read("stream", flag()));
  }

  private static void bookkeeping(Map<RequestRoute, Map<String, FieldRule>> rules) {
    on(
        rules,
        OPENAI,
        passed("user", text()),
        passed("metadata", any()),
        passed("store", flag()),
        passed("service_tier", text()),
        passed("safety_identifier", text()),
        passed("prompt_cache_key", text()),
        passed("prompt_cache_options", any()),
        passed("prompt_cache_retention", text()),
        passed("cache_salt", text()),
        passed("session_id", text()));
    on(
        rules,
        VLLM,
        ofServer("request_id", text()),
        only("priority", "requests are answered in their order", "0"));
    on(rules, union(CHAT, RESPONSES), only("moderation", "nothing is moderated here"));
    on(
        rules,
        MESSAGES,
        passed("metadata", any()),
        passed("service_tier", text()),
        passed("speed", text()),
        passed("betas", any()),
        passed("cache_control", any()),
        passed("inference_geo", text()),
        passed("workspace_id", text()),
        passed("user_profile_id", text()),
        passed("diagnostics", any()),
        passed("fallbacks", any()),
        passed("fallback_credit_token", any()));
    on(
        rules,
        RESPONSES,
        passed("client_metadata", any()),
        passed("access_programs", any()),
        passed("max_tool_calls", whole(0))); // of tools that a server runs; here none does
  }

  private static void prompts(Map<RequestRoute, Map<String, FieldRule>> rules) {
    on(
        rules,
        COMPLETIONS,
        read("prompt", any()),
        read("add_special_tokens", flag()),
        only("suffix", "a policy continues texts, and fills no gap", "\"\""),
        only("prompt_embeds", TEXTS));
    on(
        rules,
        VLLM,
        withoutTools("truncate_prompt_tokens", whole(-1), WHOLE_PROMPTS),
        withoutTools("truncation_side", oneOf("left", "right"), WHOLE_PROMPTS));
    on(
        rules,
        TOKENIZE,
        read("prompt", text()),
        read("add_special_tokens", flag()),
        only("return_token_strs", "tokens are given by ids", "false"));
    on(rules, EnumSet.of(RequestRoute.TOKENIZE, RequestRoute.DETOKENIZE), passed("model", text()));
    on(rules, EnumSet.of(RequestRoute.DETOKENIZE), read("tokens", ids()));
  }

  private static void conversations(Map<RequestRoute, Map<String, FieldRule>> rules) {
    on(
        rules,
        CONVERSATIONS,
        read("messages", each(NestedFields.message())),
        read("tools", each(NestedFields.chatTool())),
        read("chat_template_kwargs", members()),
        read("add_generation_prompt", flag()),
        read("continue_final_message", flag()),
        read("reasoning_effort", NestedFields.effort()),
        only("chat_template", TEMPLATE),
        only("documents", TEMPLATE, "[]"),
        only("media_io_kwargs", TEXTS, "{}"),
        only("mm_processor_kwargs", TEXTS, "{}"));
    on(
        rules,
        CHAT,
        served("add_special_tokens", flag(), "the template writes special tokens", "false"),
        only("functions", FORMER_TOOLS, "[]"),
        only("function_call", FORMER_TOOLS, "\"none\"", "\"auto\""),
        only("modalities", TEXTS, "[\"text\"]"),
        only("audio", TEXTS),
        only("web_search_options", "nothing is searched here"),
        only("verbosity", DISTRIBUTION, "\"medium\""),
        passed("prediction", any())); // makes answers of others faster, and no other
    on(
        rules,
        union(CHAT, RESPONSES),
        read("tool_choice", new TextOr(members())),
        read("parallel_tool_calls", flag()));
  }

  private static void responses(Map<RequestRoute, Map<String, FieldRule>> rules) {
    on(
        rules,
        RESPONSES,
        read("input", new TextOr(each(NestedFields.item()))),
        read("instructions", text()),
        read("tools", each(any())),
        read("reasoning", NestedFields.reasoning()),
        read("text", NestedFields.textConfig()),
        read(
            "include",
            each(
                oneOf(
                    "reasoning.encrypted_content",
                    "file_search_call.results",
                    "web_search_call.results",
                    "web_search_call.action.sources",
                    "code_interpreter_call.outputs",
                    "computer_call_output.output.image_url",
                    "message.input_image.image_url"))),
        only("background", "answers are waited for", "false"),
        only("conversation", KEPT_NOWHERE),
        only("previous_response_id", KEPT_NOWHERE),
        only("prompt", "templates of prompts are not kept; send the whole input"),
        only("context_management", "a conversation is read as it is sent", "[]"),
        only("truncation", "a conversation is not cut", "\"disabled\""));
  }

  private static void messages(Map<RequestRoute, Map<String, FieldRule>> rules) {
    on(
        rules,
        MESSAGES,
        read("messages", each(NestedFields.anthropicMessage())),
        read("system", NestedFields.parts()),
        read("tools", each(any())),
        read(
            "tool_choice",
            fields(
                read("type", text()),
                read("name", text()),
                read("disable_parallel_tool_use", flag()))),
        read("thinking", NestedFields.thinking()),
        read("output_config", NestedFields.outputConfig()),
        read("context_management", NestedFields.contextManagement()),
        only("output_format", FREE_FORM),
        only("compaction", "a conversation is read as it is sent"),
        only("container", "no tool is run here"),
        only("mcp_servers", "no tool is run here", "[]"));
  }

  private static void commands(Map<RequestRoute, Map<String, FieldRule>> rules) {
    on(
        rules,
        EnumSet.of(RequestRoute.UPDATE_WEIGHTS),
        read("model_path", text()),
        read("weight_version", text()),
        only("load_format", "weights are safetensors", "\"auto\"", "\"safetensors\""),
        only("abort_all_requests", "requests continue with the new weights", "false"),
        only("is_async", "the reply comes once the weights are in use", "false"),
        only("keep_pause", "the server stays as it is", "false"),
        only("manifest", "the folder's own files say what is in it"),
        passed("flush_cache", flag()), // nothing is kept of former requests
        passed("torch_empty_cache", flag()),
        passed("recapture_cuda_graph", flag()),
        passed("token_step", whole(0)));
    on(
        rules,
        EnumSet.of(RequestRoute.LOAD_ADAPTER),
        read("lora_name", text()),
        read("lora_path", text()),
        only("base_model_name", "adapters lie over the model that is served"),
        only("load_inplace", "unload the adapter first", "false"),
        only("is_3d_lora_weight", FULL_VALUES, "false"));
    on(
        rules,
        EnumSet.of(RequestRoute.UNLOAD_ADAPTER),
        read("lora_name", text()),
        passed("lora_int_id", whole(0)));
    on(rules, EnumSet.of(RequestRoute.ABORT_REQUESTS), read("request_ids", each(text())));
    on(
        rules,
        EnumSet.of(RequestRoute.PAUSE),
        read("mode", oneOf("abort", "wait", "keep")),
        passed("clear_cache", any()), // nothing is kept of former requests
        only("wait_for_inflight_requests", "send mode", "\"false\""));
  }
}
