package io.troupe.engine.http.broadcast;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.engine.parallel.Span;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The bodies of vLLM's weight transfer requests. Where the size of packed buffers belongs depends
 * on the version: from 0.28 on to the start of the engine, before that to each update.
 *
 * @param sizesAtStart whether the size of packed buffers is sent at the start
 * @param bufferBytes size of a packed buffer; 0 sends each tensor by itself
 */
record TransferRequests(boolean sizesAtStart, long bufferBytes) {
  private static final Pattern VERSION = Pattern.compile("^v?0\\.(\\d+)(\\D.*)?");
  private static final int SIZES_AT_START_FROM = 28;
  private static final int BUFFERS = 2;

  /** Chooses the form for a server's version; one that is not understood counts as new. */
  static TransferRequests of(String version, long bufferBytes) {
    Matcher minor = VERSION.matcher(version);
    boolean atStart = !minor.matches() || Integer.parseInt(minor.group(1)) >= SIZES_AT_START_FROM;
    return new TransferRequests(atStart, bufferBytes);
  }

  /** Returns the body that starts the engine: where rank 0 is, and how large the group is. */
  ObjectNode init(String host, int port, int groupSize) {
    ObjectNode body = JsonFields.object();
    ObjectNode info =
        body.putObject("init_info")
            .put("master_address", host)
            .put("master_port", port)
            .put("rank_offset", 1)
            .put("world_size", groupSize);
    if (sizesAtStart) {
      sizes(info);
    }
    return body;
  }

  /** Returns the body of an update: what follows, in this order. */
  ObjectNode update(List<WeightSnapshot.Tensor> tensors, Span.Element element) {
    ObjectNode body = JsonFields.object();
    ObjectNode info = body.putObject("update_info");
    ArrayNode names = info.putArray("names");
    ArrayNode types = info.putArray("dtype_names");
    ArrayNode shapes = info.putArray("shapes");
    for (WeightSnapshot.Tensor tensor : tensors) {
      names.add(tensor.name());
      types.add(name(element));
      ArrayNode shape = shapes.addArray();
      tensor.shape().forEach(shape::add);
    }
    if (!sizesAtStart) {
      sizes(info);
    }
    return body;
  }

  private void sizes(ObjectNode info) {
    info.put("packed", bufferBytes > 0);
    if (bufferBytes > 0) {
      info.put("packed_buffer_size_bytes", bufferBytes).put("packed_num_buffers", BUFFERS);
    }
  }

  private static String name(Span.Element element) {
    return switch (element) {
      case BF16 -> "bfloat16";
      case F32 -> "float32";
      case F64, U8 -> throw new IllegalArgumentException("weights of " + element);
    };
  }
}
