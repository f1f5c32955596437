package io.troupe.benchmarks.gpu.work;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.benchmarks.engine.PythonPeer;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;

/** A process in plain PyTorch that does the work of the row: {@code src/main/python/gpu.py}. */
public final class GpuPython implements AutoCloseable {
  private static final int THREADS = 1;

  private final PythonPeer peer;
  private final String device;

  private GpuPython(PythonPeer peer, String device) {
    this.peer = peer;
    this.device = device;
  }

  /** Starts the Python program. */
  public static GpuPython start(String python, String device)
      throws IOException, InterruptedException {
    return new GpuPython(PythonPeer.start(python, THREADS), device);
  }

  static GpuPython start(GpuSetting setting) throws IOException, InterruptedException {
    return start(setting.python(), setting.deviceName());
  }

  /** Whether that Python has PyTorch; {@link #describe} says why not. */
  public boolean present() {
    return peer.present();
  }

  String describe() {
    return peer.describe();
  }

  public JsonNode call(String method, Map<String, ?> arguments) throws IOException {
    Map<String, Object> request = new LinkedHashMap<>(arguments);
    request.put("call", method);
    request.put("device", device);
    return peer.call("gpu", request);
  }

  /** Returns a number of the answer of a call; empty without PyTorch. */
  static OptionalDouble number(JsonNode answer, String key) {
    return answer.has(key)
        ? OptionalDouble.of(answer.required(key).asDouble())
        : OptionalDouble.empty();
  }

  @Override
  public void close() {
    peer.close();
  }
}
