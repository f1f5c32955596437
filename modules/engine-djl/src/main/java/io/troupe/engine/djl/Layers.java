package io.troupe.engine.djl;

import ai.djl.pytorch.jni.TorchBridge;
import java.util.Arrays;

/**
 * A forward pass of which only the inputs of the layers were kept: enough to compute each layer
 * again on the way back, with a graph of one layer at a time.
 */
final class Layers implements AutoCloseable {
  private final Decoder decoder;
  private final Leaves leaves;
  private final MicroBatch part;
  private final Value inputs;
  private final NativeTensor output;

  private Layers(
      Decoder decoder, Leaves leaves, MicroBatch part, Value inputs, NativeTensor output) {
    this.decoder = decoder;
    this.leaves = leaves;
    this.part = part;
    this.inputs = inputs;
    this.output = output;
  }

  /** The pass, to be made without gradients. */
  static Layers of(Decoder decoder, Leaves leaves, MicroBatch part) {
    long[] handles;
    try (Program.Call call = decoder.call("checkpoints", leaves)) {
      handles = part.treeInto(call).tensorHandles();
    }
    int layers = handles.length - 1;
    NativeTensor output;
    try (NativeTensor last = NativeTensor.opaque(handles[layers])) {
      output = last.leaf();
    }
    long[] below = Arrays.copyOf(handles, layers);
    Value inputs = new Value(TorchBridge.valueOfTensors(below));
    // The list alone holds them now, so that a layer's input goes as soon as the layer has.
    for (long handle : below) {
      TorchBridge.deleteTensor(handle);
    }
    return new Layers(decoder, leaves, part, inputs, output);
  }

  /** The normed hidden states, with a graph down to the last layer's output; once. */
  NativeTensor leave() {
    try (Program.Call call = decoder.call("final_hidden", leaves)) {
      return call.with(output).opaque();
    }
  }

  /** Carries the gradient of the last layer's output down to all weights; once. */
  void unwind() {
    try (NativeTensor gradient = NativeTensor.opaque(TorchBridge.gradient(output.handle()));
        Program.Call call = decoder.call("backward_layers", leaves)) {
      part.treeInto(call).with(inputs).with(gradient).run();
    }
  }

  @Override
  public void close() {
    inputs.close();
    output.close();
  }
}
