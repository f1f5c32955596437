package io.troupe.engine.djl.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class DeviceTest {
  @ParameterizedTest
  @CsvSource({
    "auto, 0, cpu",
    "auto, 2, cuda:0",
    "cpu, 2, cpu",
    "CUDA, 1, cuda:0",
    "cuda:1, 2, cuda:1"
  })
  void of_name_isTheDevice(String name, int gpus, String device) {
    assertThat(Device.of(name, gpus)).hasToString(device);
  }

  @Test
  void of_deviceThatIsNotThere_saysHowManyThereAre() {
    assertThatThrownBy(() -> Device.of("cuda:1", 1))
        .hasMessageContaining("cuda:1")
        .hasMessageContaining("1 CUDA devices")
        .hasMessageContaining("troupe doctor");
    assertThatThrownBy(() -> Device.of("cuda", 0)).hasMessageContaining("0 CUDA devices");
  }

  @ParameterizedTest
  @CsvSource({"gpu", "cuda:", "cuda:-1", "cuda:x"})
  void of_noName_saysWhichThereAre(String name) {
    assertThatThrownBy(() -> Device.of(name, 4)).hasMessageContaining("auto, cpu, cuda and cuda:N");
  }
}
