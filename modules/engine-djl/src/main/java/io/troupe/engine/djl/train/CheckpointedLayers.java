package io.troupe.engine.djl.train;

import ai.djl.pytorch.jni.TorchBridge;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.GradientLeaves;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.TorchProgram;
import io.troupe.engine.djl.torch.TorchValue;
import java.util.Arrays;

/**
 * A forward pass of which only the inputs of the layers were kept: enough to compute each layer
 * again on the way back, with a graph of one layer at a time.
 */
final class CheckpointedLayers implements AutoCloseable {
  private final Decoder decoder;
  private final GradientLeaves leaves;
  private final MicroBatch part;
  private final TorchValue inputs;
  private final NativeTensor output;

  private CheckpointedLayers(
      Decoder decoder,
      GradientLeaves leaves,
      MicroBatch part,
      TorchValue inputs,
      NativeTensor output) {
    this.decoder = decoder;
    this.leaves = leaves;
    this.part = part;
    this.inputs = inputs;
    this.output = output;
  }

  /** The pass, to be made without gradients. */
  static CheckpointedLayers of(Decoder decoder, GradientLeaves leaves, MicroBatch part) {
    long[] handles;
    try (TorchProgram.Call call = decoder.call("checkpoints", leaves)) {
      handles = part.treeInto(call).tensorHandles();
    }
    int layers = handles.length - 1;
    NativeTensor output;
    try (NativeTensor last = NativeTensor.opaque(handles[layers])) {
      output = last.leaf();
    }
    long[] below = Arrays.copyOf(handles, layers);
    TorchValue inputs = new TorchValue(TorchBridge.valueOfTensors(below));
    // The list alone holds them now, so that a layer's input goes as soon as the layer has.
    for (long handle : below) {
      TorchBridge.deleteTensor(handle);
    }
    return new CheckpointedLayers(decoder, leaves, part, inputs, output);
  }

  /** The normed hidden states, with a graph down to the last layer's output; once. */
  NativeTensor finalHidden() {
    try (TorchProgram.Call call = decoder.call("final_hidden", leaves)) {
      return call.with(output).opaque();
    }
  }

  /** Carries the gradient of the last layer's output down to all weights; once. */
  void backward() {
    try (NativeTensor gradient = NativeTensor.opaque(TorchBridge.gradient(output.handle()));
        TorchProgram.Call call = decoder.call("backward_layers", leaves)) {
      part.treeInto(call).with(inputs).with(gradient).run();
    }
  }

  @Override
  public void close() {
    inputs.close();
    output.close();
  }
}
